import { Digest, FIELDS } from '../../tools/verify/digest.ts';
import { csvRecords, parseCsv } from './csv.ts';

/** Those of YYYY-MM, YYYY-MM-DD and YYYY-MM-DDTHH. */
const START_LENGTHS = { month: 7, day: 10, hour: 13 };

export type Interval = keyof typeof START_LENGTHS;

/** The start of the interval of a timestamp. */
function startOf(timestamp: string, interval: Interval): string {
  const start = timestamp.slice(0, START_LENGTHS[interval]);
  return start + '0000-01-01T00:00:00.000Z'.slice(start.length);
}

/**
 * The expected body of `/responses/digests`, computed from the files of the service as
 * docs/internals/digests.md describes it.
 */
export function digestsOf(csv: Buffer, formData: Buffer, interval: Interval = 'day') {
  const shortcodes = new Map(parseCsv(formData).map((row) => [row['surveyid'], row['shortcode']]));
  const rows = parseCsv(csv).map((row) =>
    Object.assign(row, { shortcode: shortcodes.get(row['surveyid']) ?? null }),
  );

  const intervals = Map.groupBy(rows, (row) => startOf(row['timestamp'] ?? '', interval));
  const digests = Array.from(intervals, ([start, some]) => {
    const digest = digestOf(some.map((row) => FIELDS.map((name) => row[name] ?? null)));
    return { start, responses: some.length, digest };
  });

  return { version: 1, interval, forms: digestOf(csvRecords(formData).slice(1)), digests };
}

/** The digest of records, each the fields that it covers. */
function digestOf(records: readonly (readonly (string | null)[])[]): string {
  const digest = new Digest();
  for (const record of records) digest.add(record);
  return String(digest);
}

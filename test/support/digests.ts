import { Digest, FIELDS } from '../../tools/verify/digest.ts';
import { csvRecords, parseCsv } from './csv.ts';

type Cell = string | null;

const START_LENGTHS = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length, hour: 'YYYY-MM-DDTHH'.length };

export type Interval = keyof typeof START_LENGTHS;

/** The start of the interval of a timestamp. */
function startOf(timestamp: string, interval: Interval): string {
  const start = timestamp.slice(0, START_LENGTHS[interval]);
  return start + '0000-01-01T00:00:00.000Z'.slice(start.length);
}

/** The expected body of `/responses/digests`, computed from the files of the service as docs/sync.md describes it. */
export function digestsOf(csv: Buffer, formData: Buffer, interval: Interval = 'day') {
  const intervals = Object.groupBy(recordsOf(csv, formData), (record) => startOf(timeOf(record), interval));
  const digests = Object.keys(intervals)
    .toSorted()
    .map((start) => {
      const records = intervals[start] ?? [];
      return { start, responses: records.length, digest: digestOf(records) };
    });
  return { version: 1, interval, forms: digestOf(csvRecords(formData).slice(1)), digests };
}

/** The fields of each response that its digest covers, in order. */
function recordsOf(csv: Buffer, formData: Buffer): Cell[][] {
  const shortcodes = new Map(parseCsv(formData).map((row) => [row['surveyid'], row['shortcode']]));
  return parseCsv(csv).map((row) => {
    const all: typeof row = { ...row, shortcode: shortcodes.get(row['surveyid']) ?? null };
    return FIELDS.map((name) => all[name] ?? null);
  });
}

const timeOf = (record: readonly Cell[]): string => record[FIELDS.indexOf('timestamp')] ?? '';

/** The digest of records, each the fields that it covers. */
function digestOf(records: readonly (readonly Cell[])[]): string {
  const digest = new Digest();
  for (const record of records) digest.add(record);
  return String(digest);
}

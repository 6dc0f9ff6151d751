import { createHash } from 'node:crypto';
import { csvRecords } from './csv.ts';

type Cell = string | null;

const RESPONSE = [
  ...['parent_surveyid', 'parent_shortcode', 'shortcode', 'surveyid', 'flowid', 'userid', 'question_ref'],
  ...['question_idx', 'question_text', 'response', 'timestamp', 'metadata', 'pageid', 'translated_response'],
];
const START_LENGTHS = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length, hour: 'YYYY-MM-DDTHH'.length };

export type Interval = keyof typeof START_LENGTHS;

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
export function recordsOf(csv: Buffer, formData: Buffer): Cell[][] {
  const shortcodes = new Map(csvRecords(formData).map(([id, shortcode]) => [id, shortcode]));
  const [header = [], ...records] = csvRecords(csv);
  return records.map((record) =>
    RESPONSE.map((name) =>
      name === 'shortcode'
        ? (shortcodes.get(record[header.indexOf('surveyid')] ?? '') ?? null)
        : (record[header.indexOf(name)] ?? null),
    ),
  );
}

/** The timestamp of a record of {@link recordsOf}. */
export const timeOf = (record: readonly Cell[]): string => record[RESPONSE.indexOf('timestamp')] ?? '';

/** The start of the interval of a timestamp. */
export function startOf(timestamp: string, interval: Interval): string {
  const start = timestamp.slice(0, START_LENGTHS[interval]);
  return start + '0000-01-01T00:00:00.000Z'.slice(start.length);
}

/** The digest of records, each the fields that it covers. */
export function digestOf(records: readonly (readonly Cell[])[]): string {
  const sums: [bigint, bigint] = [0n, 0n];
  for (const record of records) {
    const text = record.map((cell) => (cell === null ? '~' : `${Buffer.byteLength(cell)}:${cell}`)).join('');
    const md5 = createHash('md5').update(text).digest();
    sums[0] += md5.readBigUInt64BE(0);
    sums[1] += md5.readBigUInt64BE(8);
  }
  return sums.map((sum) => (sum % 2n ** 64n).toString(16).padStart(16, '0')).join('');
}

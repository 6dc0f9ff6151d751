import { cellsOf, recordsOf } from '../../shared/csv.ts';
import { update as texts } from '../texts.ts';
import { Digest, hashOf } from './digest.ts';
import { Refused } from './refused.ts';

const COLUMNS = [
  ...[
    'parent_surveyid',
    'parent_shortcode',
    'surveyid',
    'flowid',
    'userid',
    'question_ref',
    'question_idx',
  ],
  ...[
    'question_text',
    'response',
    'timestamp',
    'metadata',
    'ad_id',
    'pageid',
    'translated_response',
  ],
];
const at = (column: string) => COLUMNS.indexOf(column);
const [SURVEYID, USERID, QUESTION_REF, TIMESTAMP, METADATA, AD_ID] = [
  at('surveyid'),
  at('userid'),
  at('question_ref'),
  at('timestamp'),
  at('metadata'),
  at('ad_id'),
] as const;
/** The columns of the digests that `safe` changes. */
const ESCAPED = new Set(['question_text', 'response', 'pageid', 'translated_response'].map(at));
const KEY_PREFIX = 'metadata.';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:\d{3})?Z$/;
const HEADER_BYTES = 65_536;
/** More values than this are too many for a filter that somebody chose. */
const MOST_VALUES = 50;

/** Files that cannot be brought up to date, by their beginnings. */
const OTHERS: readonly (readonly [beginning: string, keyof typeof texts.others])[] = [
  ['\u001F\uFFFD', 'gz'], // 1F 8B, of which the second byte is no UTF-8
  ['PK\u0003\u0004', 'workbook'],
  ['\uFEFF', 'excel'],
  ['userid,parent_surveyid,', 'wide'],
];

/** The responses of a day in a file. */
export interface Day {
  /** The records. */
  readonly file: Blob;
  readonly responses: number;
  readonly digest: string;
  /** What the digest would be if the apostrophes were those of `safe`. */
  readonly unescaped: string;
  /**
   * Whether the service writes these responses as the same bytes. Order, quotes and some columns
   * are not part of the digest.
   */
  readonly isExact: boolean;
}

type Cells = readonly (string | null)[];

/** What a file contains. */
export interface Contents {
  readonly header: Blob;
  /** By day, YYYY-MM-DD in UTC. */
  readonly days: Map<string, Day>;
  /** The times of the first and the last response; empty if there is none. */
  readonly first: string;
  readonly last: string;
  /** The different values of these columns, 51 at most. */
  readonly values: Readonly<
    Record<'shortcode' | 'question_ref' | 'userid', ReadonlySet<string | null>>
  >;
  /** Whether all responses are those of other surveys. */
  readonly isForeign: boolean;
}

/**
 * Reads the beginning of a file.
 *
 * @returns the metadata keys that have columns
 * @throws Refused if it is no CSV file in the long layout, or another program has written it
 */
export async function keysOf(file: Blob): Promise<string[]> {
  const bytes = await file.slice(0, HEADER_BYTES).arrayBuffer();
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const other = OTHERS.find(([beginning]) => start.startsWith(beginning));
  if (other) throw new Refused(texts.others[other[1]]);
  const header = start.slice(0, start.indexOf('\n') + 1);
  const names = cellsOf(header);
  const keys = names.slice(COLUMNS.length).map((name) => name?.slice(KEY_PREFIX.length) ?? '');
  if (header !== recordOf([...COLUMNS, ...keys.map((key) => KEY_PREFIX + key)]))
    throw new Refused(texts.notOurs);
  return keys;
}

/**
 * Reads a file and computes the digests of its days.
 *
 * @param keys the metadata keys that have columns
 * @param shortcodes of the form versions, by id
 * @param onRead called with the number of bytes so far
 */
export async function readDays(
  file: Blob,
  keys: readonly string[],
  shortcodes: ReadonlyMap<string | null, string | null>,
  onRead: (bytes: number) => void,
): Promise<Contents> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const days = new Map<string, Day>();
  const values = {
    shortcode: new Set<string | null>(),
    question_ref: new Set<string>(),
    userid: new Set<string>(),
  };
  let header: Blob | undefined;
  let position = 0;
  let row = 0;
  let foreign = 0;
  let first = '';
  let last: Cells = [];
  let day = startDay('', 0);
  /** The days that are in only one of the two orders. */
  const sorted = new Map<string, Compare | undefined>();
  const endDay = () => {
    const { name, start, digest, unescaped, isExact, orders } = day;
    if (name === '') return;
    const responses = digest.records;
    const part = file.slice(start, position);
    days.set(name, {
      file: part,
      responses,
      digest: digest.sum(),
      unescaped: unescaped.sum(),
      isExact,
    });
    if (orders.length === 1) sorted.set(name, orders[0]);
  };

  for await (const batch of recordsOf(file.stream())) {
    for (const bytes of batch) {
      if (!header) {
        header = file.slice(0, bytes.length);
        position = bytes.length;
        continue;
      }
      row++;
      const record = decoder.decode(bytes);
      const cells = cellsOf(record);
      const time = cells[TIMESTAMP] ?? '';
      if (cells.length !== COLUMNS.length + keys.length || !TIME.test(time))
        throw new Refused(texts.damaged(row));
      const name = time.slice(0, 10);
      if (name < day.name) throw new Refused(texts.sorted(row));
      if (name !== day.name) {
        endDay();
        day = startDay(name, position);
      }
      const shortcode = shortcodes.get(cells[SURVEYID] ?? null);
      if (shortcode === undefined) foreign++;
      const hash = hashOf(digestedOf(cells, shortcode ?? null));
      day.digest.add(hash);
      day.unescaped.add(
        record.includes("'") ? hashOf(digestedOf(unescape(cells), shortcode ?? null)) : hash,
      );
      day.orders = day.orders.filter((compare) => isBefore(last, cells, compare));
      day.isExact &&= day.orders.length > 0 && record === recordOf(cells) && isDerived(cells, keys);
      if (values.shortcode.size <= MOST_VALUES) values.shortcode.add(shortcode ?? null);
      if (values.question_ref.size <= MOST_VALUES)
        values.question_ref.add(cells[QUESTION_REF] ?? '');
      if (values.userid.size <= MOST_VALUES) values.userid.add(cells[USERID] ?? '');
      first ||= time;
      last = cells;
      position += bytes.length;
    }
    onRead(position);
  }
  endDay();
  if (!header) throw new Refused(texts.notOurs);
  // All days of a file are in the same order. If there are days in either, it is not known which
  // are wrong.
  if (new Set(sorted.values()).size > 1)
    for (const [name, one] of days)
      days.set(name, { ...one, isExact: one.isExact && !sorted.has(name) });
  return {
    header,
    days,
    first,
    last: last[TIMESTAMP] ?? '',
    values,
    isForeign: row > 0 && foreign === row,
  };
}

const startDay = (name: string, start: number) => ({
  name,
  start,
  digest: new Digest(),
  unescaped: new Digest(),
  isExact: true,
  orders: [byBytes, byLanguage],
});

type Compare = (a: string, b: string) => number;
/**
 * The orders in which databases sort texts: the reader's browser does not know which one has been
 * chosen.
 */
const byBytes: Compare = (a, b) => (a < b ? -1 : Number(a > b));
const collator = new Intl.Collator('und');
const byLanguage: Compare = (a, b) => collator.compare(a, b) || byBytes(a, b);

/** Whether the service sends a record before another one. */
function isBefore(one: Cells, other: Cells, compare: Compare): boolean {
  // Compared without the Z, because a time with microseconds follows the one without.
  const times = byBytes((one[TIMESTAMP] ?? '').slice(0, -1), (other[TIMESTAMP] ?? '').slice(0, -1));
  const columns = times === 0 ? [USERID, QUESTION_REF, SURVEYID] : [];
  return (
    columns.reduce((sum, column) => sum || compare(one[column] ?? '', other[column] ?? ''), times) <
    0
  );
}

/** The fields of a digest, in their order. */
const digestedOf = (cells: Cells, shortcode: string | null): Cells => [
  ...cells.slice(0, SURVEYID),
  shortcode,
  ...cells.slice(SURVEYID, AD_ID),
  ...cells.slice(AD_ID + 1, COLUMNS.length),
];

/** Removes the apostrophes that `safe` adds, and perhaps others. */
const unescape = (cells: Cells): Cells =>
  cells.map((cell, column) =>
    ESCAPED.has(column) ? (cell?.replace(/(^|[;\t\r\n])'/g, '$1') ?? null) : cell,
  );

/** The record as the service writes it. */
const recordOf = (cells: Cells): string =>
  `${cells.map((cell) => (cell === '' || (cell && /[",\r\n]/.test(cell)) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;

/**
 * Whether the columns that digests leave out are `metadata->>key` in Postgres, which writes
 * numbers, lists and objects as in `metadata`.
 */
function isDerived(cells: Cells, keys: readonly string[]): boolean {
  const metadata = cells[METADATA] ?? 'null';
  const derived = [cells[AD_ID], ...cells.slice(COLUMNS.length)];
  try {
    const values = Object(JSON.parse(metadata)) as Readonly<Record<string, unknown>>;
    return ['ad_id', ...keys].every((key, i) => {
      const [cell, value] = [derived[i] ?? null, values[key] ?? null];
      if (cell === null || value === null || typeof value === 'string') return cell === value;
      // The text has every digit, but also the values of inner objects.
      const isEqual = JSON.stringify(JSON.parse(cell)) === JSON.stringify(value);
      return (
        isEqual &&
        [',', '}'].some((end) => metadata.includes(`${JSON.stringify(key)}: ${cell}${end}`))
      );
    });
  } catch {
    return false;
  }
}

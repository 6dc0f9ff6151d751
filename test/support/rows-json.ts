import { csvEncoder } from '../../src/encode/csv.ts';
import type { EncodeRows, EncodedPage, EncodedRows } from '../../src/encode/rows.ts';

type Rows = readonly (readonly (string | null)[])[];

/** How the last row begins. No other is likely to look like it. */
const LAST = '["last row ';

/** Rows as they are in a SQL-over-HTTP response that ends with them, and the last row. */
export const rowsJson = (rows: Rows): string =>
  `${JSON.stringify([...rows, ['last row 1', null]])}}`;

/**
 * The same rows, with every character of every cell escaped: as two characters where JSON allows it,
 * otherwise as `\uXXXX`.
 */
export function escapedRowsJson(rows: Rows): string {
  const short: Record<string, string> = {
    '/': '\\/',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
  };

  const escaped = (unit: string) =>
    short[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return rowsJson(rows).replace(/"(?:[^"\\]|\\.)*"/gsu, (string) =>
    LAST.includes(string.slice(0, -2))
      ? string
      : `"${(JSON.parse(string) as string).split('').map(escaped).join('')}"`,
  );
}

/** Encodes the result of {@link rowsJson}. */
export const encodeJson = (encode: EncodeRows, json: string): EncodedPage =>
  encode(new TextEncoder().encode(json), 0, new TextEncoder().encode(LAST));

/** Rows as a page of CSV, with the positions of its cells. */
export function pageOf(rows: Rows): EncodedRows {
  const columns = rows[0]?.length ?? 1;
  return encodeJson(csvEncoder({ columns, keyColumns: [], cells: true }), rowsJson(rows));
}

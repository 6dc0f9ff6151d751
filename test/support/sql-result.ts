import { encodeCsv } from '../../src/encode/csv.ts';
import type { PageData } from '../../src/encode/page.ts';

/** The name of the last column of these results. */
export const LAST_COLUMN = 'a "],{';

type Rows = readonly (readonly (string | null)[])[];

/** The body of a SQL-over-HTTP response. @param columns their number if there are no rows */
export function sqlResult(rows: Rows, columns = rows[0]?.length ?? 1): string {
  return JSON.stringify({
    fields: fieldsOf(columns),
    command: 'SELECT',
    rowCount: rows.length,
    rows,
    rowAsArray: true,
  });
}

/** The same, with every character of every cell escaped: as two characters where JSON allows it, otherwise as `\uXXXX`. */
export function escapedSqlResult(rows: Rows): string {
  const fields = JSON.stringify(fieldsOf(rows[0]?.length ?? 1));
  return `{"fields":${fields},"rows":${escapeAll(JSON.stringify(rows))},"rowCount":${rows.length}}`;
}

/** Rows as a page of CSV, with the positions of its cells. */
export function pageOf(rows: Rows): PageData {
  const columns = rows[0]?.length ?? 1;
  return encodeCsv(new TextEncoder().encode(sqlResult(rows)), { columns, keyColumns: [], cells: true }, LAST_COLUMN);
}

const fieldsOf = (columns: number) =>
  Array.from({ length: columns }, (_, i) => ({ name: i === columns - 1 ? LAST_COLUMN : `a "],{${i}` }));

function escapeAll(json: string): string {
  const short: Record<string, string> = { '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return json.replace(/"(?:[^"\\]|\\.)*"/gsu, (string) => {
    const text = JSON.parse(string) as string;
    return `"${Array.from({ length: text.length }, (_, i) => short[text.charAt(i)] ?? `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
  });
}

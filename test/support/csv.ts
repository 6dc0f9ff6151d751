/**
 * The CSV dialect of Postgres's COPY in its simplest form, to compare the encoder with.
 * https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS
 */
export function naiveCsv(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row) => `${row.map(naiveCell).join(',')}\n`).join('');
}

function naiveCell(cell: string | null): string {
  if (cell === null) return '';
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The records of a CSV file, the header first: null for an unquoted empty cell, "" for a quoted one. */
export function csvRecords(file: Buffer): (string | null)[][] {
  const records: (string | null)[][] = [[]];
  for (const [, cell = '', end] of file.toString('utf8').matchAll(/("(?:[^"]|"")*"|[^",\n]*)(,|\n)/gy)) {
    records.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell || null);
    if (end === '\n') records.push([]);
  }
  return records.slice(0, -1);
}

/** The records of a CSV file by column. */
export function parseCsv(file: Buffer): Record<string, string | null>[] {
  const [names = [], ...rows] = csvRecords(file);
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])));
}

/**
 * The CSV dialect of Postgres's COPY in its plainest form, against which the encoder is held.
 * https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS
 */
export function naiveCsv(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row) => `${row.map(naiveCell).join(',')}\n`).join('');
}

function naiveCell(cell: string | null): string {
  if (cell === null) return '';
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

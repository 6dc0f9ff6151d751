import { cellsOf, createRecordEnds } from '../../site/shared/csv.ts';

/**
 * The CSV dialect of Postgres's COPY in its simplest form, to compare the encoder with.
 * https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS
 */
export function naiveCsv(rows: readonly (readonly (string | null)[])[], lineEnd = '\n'): string {
  const cellOf = (cell: string | null): string => {
    if (cell === null) return '';
    const isQuoted = cell === '' || /[",\r\n]/.test(cell);
    return isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell;
  };

  return rows.map((row) => row.map(cellOf).join(',') + lineEnd).join('');
}

/**
 * The records of a CSV file, the header first: null for an unquoted empty cell, "" for a quoted
 * one.
 */
export function csvRecords(file: Buffer): (string | null)[][] {
  return createRecordEnds()(file).map((end, i, ends) =>
    cellsOf(file.toString('utf8', ends[i - 1], end)),
  );
}

/** The records of a CSV file by column. */
export function parseCsv(file: Buffer): Record<string, string | null>[] {
  const [names = [], ...rows] = csvRecords(file);
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])));
}

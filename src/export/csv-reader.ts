import type { Database } from '../db/client.ts';
import { CSV_COLUMNS, type Column, type PageOptions, keyColumnsOf, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { transcodeToCsv } from '../encode/csv.ts';
import { fileReader } from './file-reader.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';

/** What is read, and how: a file's columns in the order of time when nothing else is said. */
export interface CsvReaderOptions extends Omit<PageOptions, 'versions'> {
  /** With those of {@link keyColumnsOf} among them. */
  readonly columns?: readonly Column[];
  /** A single row that is larger is not taken into memory. */
  readonly maxRowBytes?: number;
}

/** Reads a selection's responses as CSV. */
export function csvReader(
  db: Database,
  selection: Selection,
  signal: AbortSignal,
  { columns = CSV_COLUMNS, maxRowBytes = Infinity, ...options }: CsvReaderOptions = {},
): ResponseReader<FilePage> {
  const keyColumns = keyColumnsOf(columns);
  return fileReader(db, selection, signal, {
    query: (range) => pageQuery(selection, range, columns, options),
    transcode(body) {
      const { csv, ...page } = transcodeToCsv(body, keyColumns, columns.length);
      return { data: csv, ...page };
    },
    order: options.order,
    maxRowBytes,
  });
}

import { transcodeToCsv } from '../transcode/csv.ts';
import type { Database, Patience } from '../db/client.ts';
import { CSV_COLUMNS, type Column, type PageOptions, keyColumnsOf, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { placeOf, readBorders } from './borders.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';

/** More than this is not taken into memory at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** What is read, and how: a file's columns in the order of time when nothing else is said. */
export interface CsvReaderOptions extends PageOptions {
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
  let patience: Patience = 'request';
  return {
    async page(range) {
      const maxBytes = range.limit === 1 ? maxRowBytes : MAX_PAGE_BYTES;
      const query = pageQuery(selection, range, columns, options);
      const page = await db.bytes(query, { signal, maxBytes, patience }, (body): FilePage => {
        const { csv, rowCount, lastKey } = transcodeToCsv(body, keyColumns, query.columns);
        // Megabytes a page pile up faster than the garbage collector sees them: a transfer to nowhere frees them at once.
        const release = () => void csv.buffer.transfer(0);
        return { data: csv, rowCount, last: placeOf(lastKey), bytes: body.length, release };
      });
      patience = 'export'; // for the first page a client waits; from then on, patience saves its download
      return page;
    },

    borders: readBorders(db, selection, signal, options.order),
  };
}

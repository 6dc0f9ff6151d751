import type { Cursor } from '../cursor.ts';
import { transcodePage } from '../csv/page.ts';
import type { Database, Patience } from '../db/client.ts';
import { BY_TIME, type Order } from '../db/order.ts';
import { CSV_COLUMNS, type Column, type PageOptions, borderQuery, keyColumnsOf, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import type { ResponseReader, SizedPage } from './read-ahead.ts';

/** A page as it goes into a file. */
export interface FilePage extends SizedPage {
  readonly data: Uint8Array;
  /** Frees the memory of `data`, which has been used. */
  readonly release: () => void;
}

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
        const { csv, rowCount, lastKey } = transcodePage(body, keyColumns, query.columns);
        // Megabytes a page pile up faster than the garbage collector sees them: a transfer to nowhere frees them at once.
        const release = () => void csv.buffer.transfer(0);
        return { data: csv, rowCount, last: cursorOf(lastKey), bytes: body.length, release };
      });
      patience = 'export'; // for the first page a client waits; from then on, patience saves its download
      return page;
    },

    borders: readBorders(db, selection, signal, options.order),
  };
}

/** Looks up the borders of the pages to come. */
export function readBorders(
  db: Database,
  selection: Selection,
  signal: AbortSignal,
  order: Order = BY_TIME,
): ResponseReader<never>['borders'] {
  return async (range, pageRows) => {
    const rows = await db.rows(borderQuery(selection, range, pageRows, order), { signal, patience: 'export' });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  };
}

function cursorOf(key: readonly (string | null)[]): Required<Cursor> | undefined {
  if (key.length === 0) return undefined;
  const [timestamp, userid, questionRef, surveyid] = key as [string, string, string, string];
  return { timestamp, userid, questionRef, surveyid };
}

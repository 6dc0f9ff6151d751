import type { Database } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { findBoundaries, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import { free } from '../encode/bytes.ts';
import type { EncodedRows } from '../encode/rows.ts';
import type { PageFormat } from '../formats/page-format.ts';
import { type Cursor, cursorOf, keyOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';

/** The first responses of a range, encoded. */
export interface Page extends EncodedRows {
  readonly rowCount: number;
  /** The number of rows requested. With fewer, the range has no more. */
  readonly requestedRows: number;
  /** The position of the last row; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
  /** The memory, in bytes, that the page takes. */
  readonly bytes: number;
  /** Frees the page's memory. */
  readonly release: () => void;
}

/** Whether a page has fewer rows than requested. Its range has no more then. */
export const isShort = ({ rowCount, requestedRows }: Page) => rowCount < requestedRows;

/** Reads a selection of responses from the database. */
export interface PageReader {
  /**
   * Reads the first rows of a range: as many of `range.limit` as fit one response of the database.
   *
   * @throws DatabaseError; `too-large` if a single row does not fit
   */
  readonly page: (range: Range) => Promise<Page>;
  /** Finds the position of every `pageRows`th row among the first `range.limit` of a range. */
  readonly boundaries: (range: Range, pageRows: number) => Promise<Required<Cursor>[]>;
}

/** Halving 20,000 rows down to a single enormous one would take 15 requests; this takes 8. */
const SHRINK = 4;

export function pageReader(db: Database, selection: Selection, format: PageFormat, signal: AbortSignal): PageReader {
  const { columns, encode, maxPageBytes, maxRowBytes = Infinity, order } = format;
  let retry: RetryPolicy = 'request';

  async function read(range: Range): Promise<Page> {
    const { limit, rows, upTo } = range;
    const maxBytes = limit === 1 ? maxRowBytes : maxPageBytes;
    const expectedEnd = rows !== undefined && upTo ? { rowCount: rows, lastKey: keyOf(upTo) } : undefined;
    const query = pageQuery(selection, range, columns, format);
    const { data, cells, rowCount, lastKey } = await db.page(query, { signal, maxBytes, retry, expectedEnd }, encode);
    return {
      data,
      cells,
      rowCount,
      requestedRows: limit,
      last: cursorOf(lastKey),
      bytes: data.buffer.byteLength + cells.buffer.byteLength,
      release: () => {
        free(data);
        free(cells);
      },
    };
  }

  return {
    async page(range) {
      for (let part = range; ; part = { ...range, limit: Math.ceil(part.limit / SHRINK), rows: undefined }) {
        try {
          const page = await read(part);
          // Before the first full page, the client waits for a status. Afterwards, a failure would abort the transfer.
          if (!isShort(page)) retry = 'export';
          return page;
        } catch (error) {
          const isTooLarge = error instanceof DatabaseError && error.kind === 'too-large';
          if (!isTooLarge || part.limit === 1) throw error;
        }
      }
    },

    boundaries: (range, pageRows) => findBoundaries(db, selection, range, pageRows, order, signal),
  };
}

import type { Database } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { findBoundaries, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import { free } from '../encode/bytes.ts';
import type { PageData } from '../encode/page.ts';
import { type Cursor, cursorOf, isSamePosition } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import type { PageFormat } from './formats.ts';

/** The first responses of a range, encoded. */
export interface Page extends PageData {
  readonly rowCount: number;
  /** The number of rows requested. */
  readonly requestedRows: number;
  /** The position of the last row; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
  /** The memory, in bytes, that the page takes. */
  readonly bytes: number;
  /** Frees the page's memory. */
  readonly release: () => void;
}

/** Whether a page has fewer rows than requested, as at the end of its range. */
export const isShort = ({ rowCount, requestedRows }: Page) => rowCount < requestedRows;

/** Reads a selection of responses from the database. */
export interface PageReader {
  /**
   * Reads the first rows of a range: as many of `range.limit` as fit one response of the database. A page that ends at
   * `range.upTo` after `range.rows` rows is complete. Any other is read with its number of rows, which the query counts.
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

  async function read(range: Range, checked: boolean): Promise<Page> {
    const query = pageQuery(selection, range, columns, { ...format, checked });
    const maxBytes = range.limit === 1 ? maxRowBytes : maxPageBytes;
    return db.bytes(query, { signal, maxBytes, retry }, (body, name): Page => {
      const { data, cells, rowCount, lastKey } = encode(body, name, checked);
      if (data.buffer !== body.buffer) free(body);
      return {
        data,
        cells,
        rowCount,
        requestedRows: range.limit,
        last: cursorOf(lastKey),
        bytes: data.buffer.byteLength + cells.buffer.byteLength,
        release: () => {
          free(data);
          free(cells);
        },
      };
    });
  }

  /** Reads a range between two boundaries. @returns undefined if rows are missing, or were stored or deleted since */
  async function readWhole(range: Range): Promise<Page | undefined> {
    const page = await read(range, false);
    if (page.rowCount === range.rows && isSamePosition(page.last, range.upTo)) return page;
    page.release();
    return undefined;
  }

  return {
    async page(range) {
      let isWhole = range.rows !== undefined;
      for (let { limit } = range; ; limit = Math.ceil(limit / SHRINK), isWhole = false) {
        try {
          const whole = isWhole ? await readWhole(range) : undefined;
          const page = whole ?? (await read({ ...range, limit }, true));
          // Until the first full page the client waits for a status. After it, a failure aborts the transfer.
          if (!isShort(page)) retry = 'export';
          return page;
        } catch (error) {
          const isTooLarge = error instanceof DatabaseError && error.kind === 'too-large';
          if (!isTooLarge || limit === 1) throw error;
        }
      }
    },

    boundaries: (range, pageRows) => findBoundaries(db, selection, range, pageRows, order, signal),
  };
}

import type { Database } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { findBoundaries, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import { free } from '../encode/bytes.ts';
import { type Cursor, cursorOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import type { PageFormat } from './formats.ts';

/** The first responses of a range, encoded. */
export interface Page {
  readonly data: Uint8Array;
  readonly rowCount: number;
  /** The number of rows requested. A page with fewer rows is the end of its range. */
  readonly requestedRows: number;
  /** The position of the last row; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
  /** The memory, in bytes, that the page took while it was made. */
  readonly bytes: number;
  /** Frees the memory of `data`. */
  readonly release: () => void;
}

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
    const query = pageQuery(selection, range, columns, format);
    const maxBytes = range.limit === 1 ? maxRowBytes : maxPageBytes;
    return db.bytes(query, { signal, maxBytes, retry }, (body, name): Page => {
      const { data, rowCount, lastKey } = encode(body, name);
      const isInPlace = data.buffer === body.buffer;
      const bytes = body.length + (isInPlace ? 0 : data.buffer.byteLength);
      if (!isInPlace) free(body);
      return {
        data,
        rowCount,
        requestedRows: range.limit,
        last: cursorOf(lastKey),
        bytes,
        release: () => free(data),
      };
    });
  }

  return {
    async page(range) {
      for (let { limit } = range; ; limit = Math.ceil(limit / SHRINK)) {
        try {
          const page = await read({ ...range, limit });
          retry = 'export'; // until the first page the client waits for a status; after it, a failure aborts the download
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

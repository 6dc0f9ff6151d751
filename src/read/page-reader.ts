import { splitFilters } from '../db/branches.ts';
import type { Database, HeldPage } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { BY_TIME } from '../db/order.ts';
import { boundaryQuery, boundedPageQuery, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import type { PageFormat } from '../formats/page-format.ts';
import type { AppEnv } from '../http/context.ts';
import type { Reservation } from '../limits/lease.ts';
import { type Cursor, cursorOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';

/** Halving 20,000 rows down to a single enormous one would take 15 requests; this takes 8. */
const SHRINK = 4;

/** The first responses of a range, encoded. */
export interface Page extends HeldPage {
  /** The number of rows requested. With fewer, the range has no more. */
  readonly requestedRows: number;
  /** The position of the last row; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
}

/** Whether a page has fewer rows than requested. Its range has no more then. */
export const isShort = ({ rowCount, requestedRows }: Pick<Page, 'rowCount' | 'requestedRows'>) =>
  rowCount < requestedRows;

export type PageReader = ReturnType<typeof pageReader>;

/** Reads a selection of responses from the database. */
export function pageReader(db: Database, selection: Selection, format: PageFormat, signal: AbortSignal) {
  const { columns, encode, maxPageBytes, maxRowBytes = Infinity, order = BY_TIME } = format;
  const { inIndex, unindexed } = splitFilters(selection, order);
  const isWalk = unindexed.length > 0;
  let retry: RetryPolicy = 'request';

  async function readRows(range: Range, reservation: Reservation | undefined): Promise<HeldPage> {
    const { limit, windowSize } = range;
    const maxBytes = limit === 1 ? maxRowBytes : maxPageBytes;
    const options = { signal, retry, maxBytes, reservation, canBeSmaller: limit > 1 };
    const query = pageQuery(selection, range, columns, format);
    const bounded = windowSize === undefined ? boundedPageQuery(selection, range, columns, format) : undefined;
    if (bounded) {
      const page = await db.page(bounded, options, encode);
      if (!page.isCut) return page;
      page.release();
      return db.page(query, { ...options, retry: 'scan' }, encode); // its rows are far apart
    }
    return db.page(query, options, encode);
  }

  async function findBoundaries(among: Selection, range: Range, pageRows: number, policy: RetryPolicy = 'export') {
    const rows = await db.rows(boundaryQuery(among, range, pageRows, order), { signal, retry: policy });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  }

  return {
    /**
     * Reads the first rows of a range: as many of `range.limit` as fit one response of the database, and the memory.
     *
     * @param reservation what the page's memory is counted in
     * @throws DatabaseError; `too-large` if a single row does not fit
     */
    async page(range: Range, reservation?: Reservation): Promise<Page> {
      const page = await readFitting(range.limit, async (limit) => {
        const read = await readRows({ ...range, limit }, reservation);
        return { ...read, requestedRows: limit, last: cursorOf(read.lastKey) };
      });
      // Before the first full page, the client waits for a status. Afterwards, a failure would abort the transfer.
      if (!isShort(page)) retry = 'export';
      return page;
    },

    /**
     * Finds the position of every `pageRows`th response among the first `range.limit` of a range, those included that only
     * {@link isWalk} filters discard.
     */
    boundaries: (range: Range, pageRows: number) => findBoundaries(inIndex, range, pageRows),

    /** Finds the position of the `range.limit`th row of a range; undefined if there are fewer. */
    async end(range: Range): Promise<Required<Cursor> | undefined> {
      const [end] = await findBoundaries(selection, range, range.limit, isWalk ? 'scan' : 'export');
      return end;
    },

    /** Whether there are filters that no index holds, so that the rows of a page may be far apart. */
    isWalk,
  };
}

/**
 * Reads as many rows of a limit as fit one response of the database, and the memory.
 *
 * @throws DatabaseError; `too-large` if a single row does not fit
 */
export async function readFitting<T>(limit: number, read: (limit: number) => Promise<T>): Promise<T> {
  for (let rows = limit; ; rows = Math.ceil(rows / SHRINK)) {
    try {
      return await read(rows);
    } catch (error) {
      const isTooLarge = error instanceof DatabaseError && error.kind === 'too-large';
      if (!isTooLarge || rows === 1) throw error;
    }
  }
}

/** Yields the pages that have rows. Counts their rows, and frees each page's memory before the next one is read. */
export async function* sentPages<P extends HeldPage>(
  pages: AsyncIterable<P>,
  { stats }: Pick<AppEnv['Variables'], 'stats'>,
): AsyncGenerator<P, void, void> {
  for await (const page of pages) {
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}

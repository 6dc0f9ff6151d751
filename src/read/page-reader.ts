import { splitFilters } from '../db/branches.ts';
import type { Database, HeldPage } from '../db/client.ts';
import { BY_TIME } from '../db/order.ts';
import { boundaryQuery, boundedPageQuery, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import type { PageFormat } from '../formats/page-format.ts';
import type { RequestStats } from '../http/request-stats.ts';
import type { Reservation } from '../limits/lease.ts';
import { type Cursor, cursorOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { MAX_WALKED, participantBatches } from './participants.ts';
import { readFitting } from './read-fitting.ts';

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
export function pageReader(db: Database, selection: Selection, format: PageFormat) {
  const { columns, encode, maxPageBytes, maxRowBytes = Infinity, order = BY_TIME } = format;
  const { inIndex, unindexed } = splitFilters(selection, order);
  const isWalk = unindexed.length > 0;
  const { secret } = selection.survey.limits ?? {};
  let retry: RetryPolicy = 'request';
  let batchRows = 0;
  let hasMore = false;
  /**
   * In the order of pseudonyms, which no index has, the responses are read of one batch of
   * participants after another.
   */
  const batches =
    secret !== undefined && order.columns[0] === 'userid'
      ? participantBatches(db, selection, secret, () => batchRows)
      : undefined;
  /** What the first page has left of its batch. */
  let rest: Range | undefined;

  async function readRows(range: Range, reservation: Reservation | undefined): Promise<HeldPage> {
    const { limit, windowSize } = range;
    const maxBytes = limit === 1 ? maxRowBytes : maxPageBytes;
    const options = { retry, maxBytes, reservation, canBeSmaller: limit > 1 };
    const bounded =
      windowSize === undefined ? boundedPageQuery(selection, range, columns, format) : undefined;
    const page = bounded && (await db.page(bounded, options, encode));
    if (page && !page.isCut) return page;
    page?.release();
    // its rows are far apart
    const isScan = page !== undefined || (isWalk && (windowSize ?? 0) > MAX_WALKED);
    const query = pageQuery(selection, range, columns, format);
    return db.page(query, { ...options, retry: isScan ? 'scan' : retry }, encode);
  }

  async function findBoundaries(
    among: Selection,
    range: Range,
    pageRows: number,
    policy: RetryPolicy = 'export',
  ) {
    const rows = await db.rows(boundaryQuery(among, range, pageRows, order), { retry: policy });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  }

  async function readPage(range: Range, reservation?: Reservation): Promise<Page> {
    const page = await readFitting(range.limit, async (limit) => {
      const read = await readRows({ ...range, limit }, reservation);
      return { ...read, last: cursorOf(read.lastKey) };
    });
    // Before the first full page, the client waits for a status. Afterwards, a failure would abort
    // the transfer.
    if (!isShort(page)) retry = 'export';
    return page;
  }

  async function nextBatch(rows: number): Promise<Range | undefined> {
    batchRows = rows;
    const { value: batch } = (await batches?.next()) ?? {};
    if (!batch) return undefined;
    const { ids, responses, walked, isLast } = batch;
    hasMore = !isLast;
    // An index is searched for them fastest in its own order. Unless some rows were stored since,
    // there is not one more.
    return {
      participants: ids.toSorted(),
      windowSize: walked,
      limit: Math.min(responses, rows) + 1,
    };
  }

  return {
    /**
     * Reads the first rows after a position, as {@link page} does. The page is short only if there
     * are no more.
     */
    async first({ after, limit }: Range): Promise<Page> {
      for (;;) {
        const range = { after, ...(await nextBatch(limit)), limit };
        const page = await readPage(range);
        if (batches && !isShort(page)) rest = { ...range, after: page.last };
        if (!hasMore) return page;
        if (page.rowCount > 0) return { ...page, requestedRows: page.rowCount };
        page.release(); // they were deleted since
      }
    },

    /**
     * Reads the first rows of a range: as many of `range.limit` as fit one response of the
     * database, and the memory.
     *
     * @param reservation what the page's memory is counted in
     * @throws DatabaseError; `too-large` if a single row does not fit
     */
    page: readPage,

    /**
     * The ranges after the first page, if they are not between boundaries. @param rows of a page
     */
    batches:
      batches &&
      async function* batchRanges(rows: () => number): AsyncGenerator<Range, void, void> {
        retry = 'export'; // their pages are short
        for (let range = rest; (range ??= await nextBatch(rows())); range = undefined) yield range;
      },

    /**
     * Finds the position of every `pageRows`th response among the first `range.limit` of a range,
     * those included that only {@link isWalk} filters discard.
     */
    boundaries: (range: Range, pageRows: number) => findBoundaries(inIndex, range, pageRows),

    /** Finds the position of the `range.limit`th row of a range; undefined if there are fewer. */
    async end(range: Range): Promise<Required<Cursor> | undefined> {
      const [end] = await findBoundaries(selection, range, range.limit, isWalk ? 'scan' : 'export');
      return end;
    },

    /**
     * Whether there are filters that no index holds, so that the rows of a page may be far apart.
     */
    isWalk,
  };
}

/**
 * Yields the pages that have rows. Counts their rows, and frees each page's memory before the next
 * one is read.
 */
export async function* sentPages<P extends HeldPage>(pages: AsyncIterable<P>, stats: RequestStats) {
  for await (const page of pages) {
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}

import { splitFilters } from '../db/branches.ts';
import type { ProvenPage } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import { BY_TIME } from '../db/order.ts';
import { boundaryQuery, pageQuery } from '../db/responses.ts';
import type { PageFormat } from '../formats/page-format.ts';
import type { RequestStats } from '../http/request-stats.ts';
import { KINDS } from '../limits/slots.ts';
import { type Cursor, cursorOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { MAX_WALKED, participantBatches } from './participants.ts';
import { readFitting } from './read-fitting.ts';

/** The first responses of a range, encoded. */
export interface Page extends ProvenPage {
  /** The number of rows requested. With fewer, the range has no more. */
  readonly requestedRows: number;
  /** The position of the last row; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
}

/** Whether a page has fewer rows than requested. Its range has no more then. */
export const isShort = ({ rowCount, requestedRows }: Pick<Page, 'rowCount' | 'requestedRows'>) =>
  rowCount < requestedRows;

/** The kinds of slots in which pages are read. */
export type PageKind = 'file' | 'walk' | 'quick' | 'large';

/** Whether a selection has filters that no index holds, so that the rows of a page may be far apart. */
export const isWalk = (selection: Selection, { order = BY_TIME }: Pick<PageFormat, 'order'>) =>
  splitFilters(selection, order).unindexed.length > 0;

/** How much of what a result may take is planned for. */
const PAGE_PART = 0.9;

export type PageReader = ReturnType<typeof pageReader>;

/**
 * Reads a selection of responses from the database.
 *
 * @param kind the slot for its pages
 */
export function pageReader(db: Database, selection: Selection, format: PageFormat, kind: PageKind) {
  const { columns, encode, share, order = BY_TIME } = format;
  const hasWalks = isWalk(selection, format);
  /**
   * In the order of pseudonyms, which no index has, the responses are read of one batch of
   * participants after another.
   */
  const { secret } = selection.survey.limits ?? {};
  const participants =
    secret !== undefined && order.columns[0] === 'userid'
      ? participantBatches(db, selection, secret, () => batchRows)
      : undefined;
  let batchRows = 0;
  let hasMore = false;
  /** What the first page has left of its batch. */
  let restOfFirst: Range | undefined;

  async function nextBatch(rows: number): Promise<Range | undefined> {
    batchRows = rows;
    const { value: batch } = (await participants?.next()) ?? {};
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

  async function* batchRanges(rows: () => number) {
    let range = restOfFirst ?? (await nextBatch(rows()));
    while (range) {
      yield range;
      range = await nextBatch(rows());
    }
  }

  async function boundariesAmong(some: Selection, after: Cursor, pageRows: number, count: number) {
    const rows = await db.rows(boundaryQuery(some, after, pageRows, count, order), { kind });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  }

  /**
   * Reads the first rows of a range: as many of `range.limit` as fit one response of the database.
   *
   * @param signal cancels the reading of a page ahead of its turn
   * @throws DatabaseError; `too-large` if a single row does not fit, which may fit when it is its turn
   */
  async function page(range: Range, signal?: AbortSignal): Promise<Page> {
    const { windowSize = Infinity } = range;
    const isLong = hasWalks && windowSize > MAX_WALKED;
    return readFitting(range.limit, async (limit) => {
      const query = pageQuery(selection, { ...range, limit }, columns, format);
      // Pages that are read ahead share the request's slots: a long row waits until it is its turn.
      const most = limit === 1 && !signal ? 'large' : kind;
      const maxBytes = share * KINDS[most].bytes;
      const read = await db.page(query, { kind, isLong, signal, maxBytes, share }, encode);
      return { ...read, last: cursorOf(read.lastKey) };
    });
  }

  return {
    /** Whether there are filters that no index holds: see {@link isWalk}. */
    isWalk: hasWalks,
    /** The length that the result of a page should have, in bytes. Some turn out longer. */
    pageBytes: PAGE_PART * share * KINDS[kind].bytes,

    page,

    /**
     * Reads the first rows after a position, as {@link page} does. The page is short only if there
     * are no more.
     */
    async first({ after, limit }: Range): Promise<Page> {
      for (;;) {
        const range = { after, ...(await nextBatch(limit)), limit };
        const first = await page(range);
        if (participants && !isShort(first)) restOfFirst = { ...range, after: first.last };
        if (!hasMore) return first;
        if (first.rowCount > 0) return { ...first, requestedRows: first.rowCount };
        first.release(); // they were deleted since
      }
    },

    /** The ranges after the first page, if they are not between boundaries. @param rows of a page */
    batches: (rows: () => number) => participants && batchRanges(rows),

    /**
     * Finds the positions of every `pageRows`th response after one, `count` at most. Those are
     * included that only {@link isWalk} filters discard.
     */
    boundaries: (after: Cursor, pageRows: number, count: number) =>
      boundariesAmong(splitFilters(selection, order).inIndex, after, pageRows, count),

    /** Finds the position of the `rows`th response after one; undefined if there are fewer. */
    end: async (after: Cursor, rows: number) =>
      (await boundariesAmong(selection, after, rows, 1)).at(0),
  };
}

/**
 * Yields the pages that have rows. Counts their rows, and frees each page's memory before the next
 * one is read.
 */
export async function* sentPages<P extends ProvenPage>(
  pages: AsyncIterable<P>,
  stats: RequestStats,
) {
  for await (const page of pages) {
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}

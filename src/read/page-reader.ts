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
  const { share, order = BY_TIME } = format;
  const { secret } = selection.survey.limits ?? {};
  const page = readPages(db, selection, format, kind);
  /** In the order of pseudonyms, which no index has, one batch of participants after another. */
  const batches =
    secret !== undefined && order.columns[0] === 'userid'
      ? participantBatches(db, selection, secret, () => batchRows)
      : undefined;
  let batchRows = 0;
  /** What the first page has left of its batch. */
  let restOfFirst: Range | undefined;

  async function nextBatch(rows: number) {
    batchRows = rows;
    return (await batches?.next())?.value ?? undefined;
  }

  async function* batchRanges(rows: () => number) {
    const next = () => nextBatch(rows());
    for (let range = restOfFirst ?? (await next()); range; range = await next()) yield range;
  }

  /** The positions of every `rows`th response after one, `count` at most. */
  async function positions(some: Selection, after: Cursor, rows: number, count: number) {
    const found = await db.rows(boundaryQuery(some, after, rows, count, order), { kind });
    return found.map((row) => cursorOf(row) as Required<Cursor>);
  }

  return {
    /** Whether there are filters that no index holds: see {@link isWalk}. */
    isWalk: isWalk(selection, format),
    /** The length that the result of a page should have, in bytes. Some turn out longer. */
    pageBytes: PAGE_PART * share * KINDS[kind].bytes,
    page,

    /** Reads the first rows after a position. The page is short only if there are no more. */
    async first({ after, limit }: Range): Promise<Page> {
      for (;;) {
        const batch = await nextBatch(limit);
        const range = { after, ...batch, limit };
        const first = await page(range);
        if (batch && !isShort(first)) restOfFirst = { ...range, after: first.last };
        if (!batch || batch.isLast) return first;
        if (first.rowCount > 0) return { ...first, requestedRows: first.rowCount };
        first.release(); // they were deleted since
      }
    },

    /** The ranges after the first page, if they are not between boundaries. @param rows of a page */
    batches: (rows: () => number) => batches && batchRanges(rows),

    /** Page boundaries. Those responses count that only {@link isWalk} filters discard. */
    boundaries: (after: Cursor, rows: number, count: number) =>
      positions(splitFilters(selection, order).inIndex, after, rows, count),

    /** Finds the position of the `rows`th response after one; undefined if there are fewer. */
    end: async (after: Cursor, rows: number) => (await positions(selection, after, rows, 1)).at(0),
  };
}

/**
 * Makes a function that reads the first rows of a range: as many of `range.limit` as fit one
 * response of the database.
 *
 * - `signal` cancels the reading of a page ahead of its turn
 * - throws a DatabaseError; `too-large` if a single row does not fit, which may fit when it is its
 *   turn
 */
function readPages(
  db: Database,
  selection: Selection,
  format: PageFormat,
  kind: PageKind,
): (range: Range, signal?: AbortSignal) => Promise<Page> {
  const { columns, encode, share } = format;
  const hasWalks = isWalk(selection, format);

  return async (range, signal) => {
    const { windowSize = Infinity } = range;
    const isLong = hasWalks && windowSize > MAX_WALKED;
    return readFitting(range.limit, async (limit) => {
      const query = pageQuery(selection, { ...range, limit }, columns, format);
      // Pages that are read ahead share the request's slots: a long row waits until it is its turn.
      const canShrink = limit > 1 || signal !== undefined;
      const maxBytes = share * KINDS[canShrink ? kind : 'large'].bytes;
      const options = { kind, isLong, signal, maxBytes, share, canShrink };
      const read = await db.page(query, options, encode);
      return { ...read, last: cursorOf(read.lastKey) };
    });
  };
}

/**
 * Yields the pages that have rows. Counts their rows, and frees each page's memory before the next
 * one is read.
 */
export async function* sentPages(pages: AsyncIterable<ProvenPage>, stats: RequestStats) {
  for await (const page of pages) {
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}

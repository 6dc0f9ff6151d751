import { splitFilters } from '../db/branches.ts';
import type { ProvenPage } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import { BY_TIME, type Order } from '../db/order.ts';
import { boundaryQuery, pageQuery } from '../db/responses.ts';
import type { RetryPolicy } from '../db/retry.ts';
import type { PageFormat } from '../formats/page-format.ts';
import type { RequestStats } from '../http/request-stats.ts';
import { KINDS } from '../limits/slots.ts';
import { type Cursor, cursorOf } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { MAX_WALKED, participantBatches } from './participants.ts';
import { isTooLarge, readFitting } from './read-fitting.ts';

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

/** Reads a selection of responses from the database. */
export class PageReader {
  /** Whether there are filters that no index holds: see {@link isWalk}. */
  readonly isWalk: boolean;
  /** The length that the result of a page should have, in bytes. Some turn out longer. */
  readonly pageBytes: number;
  readonly #db: Database;
  readonly #selection: Selection;
  readonly #format: PageFormat;
  readonly #kind: PageKind;
  readonly #order: Order;
  /**
   * In the order of pseudonyms, which no index has, the responses are read of one batch of
   * participants after another.
   */
  readonly #batches: ReturnType<typeof participantBatches> | undefined;
  #batchRows = 0;
  #hasMore = false;
  /** What the first page has left of its batch. */
  #rest: Range | undefined;
  /**
   * Whether a page was full. Before, the client waits for a status; later, a failure would abort the
   * transfer.
   */
  #hasBegun = false;

  /** @param kind the slot for its pages */
  constructor(db: Database, selection: Selection, format: PageFormat, kind: PageKind) {
    const { order = BY_TIME, share } = format;
    this.#db = db;
    this.#selection = selection;
    this.#format = format;
    this.#kind = kind;
    this.#order = order;
    this.isWalk = isWalk(selection, format);
    this.pageBytes = PAGE_PART * share * KINDS[kind].bytes;

    const { secret } = selection.survey.limits ?? {};
    if (secret !== undefined && order.columns[0] === 'userid')
      this.#batches = participantBatches(db, selection, secret, () => this.#batchRows);
  }

  /**
   * Reads the first rows after a position, as {@link page} does. The page is short only if there are
   * no more.
   */
  async first({ after, limit }: Range): Promise<Page> {
    for (;;) {
      const range = { after, ...(await this.#nextBatch(limit)), limit };
      const page = await this.page(range);
      if (this.#batches && !isShort(page)) this.#rest = { ...range, after: page.last };
      if (!this.#hasMore) return page;
      if (page.rowCount > 0) return { ...page, requestedRows: page.rowCount };
      page.release(); // they were deleted since
    }
  }

  /**
   * Reads the first rows of a range: as many of `range.limit` as fit one response of the database.
   *
   * @param signal cancels the reading of a page ahead of its turn
   * @throws DatabaseError; `too-large` if a single row does not fit, which may fit when it is its turn
   */
  async page(range: Range, signal?: AbortSignal): Promise<Page> {
    const page = await readFitting(range.limit, async (limit) => {
      const read = await this.#rows({ ...range, limit }, signal);
      return { ...read, last: cursorOf(read.lastKey) };
    });
    if (!isShort(page)) this.#hasBegun = true;
    return page;
  }

  /** The ranges after the first page, if they are not between boundaries. @param rows of a page */
  batches(rows: () => number): AsyncGenerator<Range, void, void> | undefined {
    if (!this.#batches) return undefined;
    this.#hasBegun = true; // although their pages are short
    return this.#batchRanges(rows);
  }

  /**
   * Finds the position of every `pageRows`th response among the first `range.limit` of a range, those
   * included that only {@link isWalk} filters discard.
   */
  async boundaries(range: Range, pageRows: number): Promise<Required<Cursor>[]> {
    const { inIndex } = splitFilters(this.#selection, this.#order);
    return this.#boundaries(inIndex, range, pageRows, 'export');
  }

  /** Finds the position of the `range.limit`th row of a range; undefined if there are fewer. */
  async end(range: Range): Promise<Required<Cursor> | undefined> {
    const [end] = await this.#boundaries(this.#selection, range, range.limit, 'scan');
    return end;
  }

  async #rows(range: Range, signal: AbortSignal | undefined): Promise<ProvenPage> {
    const { columns, encode, share } = this.#format;
    const { limit, windowSize = Infinity } = range;
    const isFar = this.isWalk && windowSize > MAX_WALKED;
    const query = pageQuery(this.#selection, range, columns, this.#format);
    const read = (kind: PageKind) => {
      const retry = isFar ? 'scan' : this.#hasBegun ? 'export' : 'request';
      const maxBytes = share * KINDS[kind].bytes;
      return this.#db.page(query, { retry, signal, kind, maxBytes }, encode);
    };

    try {
      return await read(this.#kind);
    } catch (error) {
      // Pages that are read ahead share the request's slots: a long row waits until it is its turn.
      const mayBeLarge = limit === 1 && !signal && this.#kind !== 'large';
      if (!mayBeLarge || !isTooLarge(error)) throw error;
      return await read('large');
    }
  }

  async #boundaries(among: Selection, range: Range, pageRows: number, retry: RetryPolicy) {
    const query = boundaryQuery(among, range, pageRows, this.#order);
    const rows = await this.#db.rows(query, { kind: this.#kind, retry });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  }

  async #nextBatch(rows: number): Promise<Range | undefined> {
    this.#batchRows = rows;
    const { value: batch } = (await this.#batches?.next()) ?? {};
    if (!batch) return undefined;

    const { ids, responses, walked, isLast } = batch;
    this.#hasMore = !isLast;
    // An index is searched for them fastest in its own order. Unless some rows were stored since,
    // there is not one more.
    return {
      participants: ids.toSorted(),
      windowSize: walked,
      limit: Math.min(responses, rows) + 1,
    };
  }

  async *#batchRanges(rows: () => number): AsyncGenerator<Range, void, void> {
    if (this.#rest) yield this.#rest;
    for (;;) {
      const range = await this.#nextBatch(rows());
      if (!range) return;
      yield range;
    }
  }
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

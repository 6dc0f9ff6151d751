import { isTooLarge } from '../db/errors.ts';
import type { RequestSlots } from '../limits/slots.ts';
import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { suppressUnhandledRejection } from '../unhandled-rejection.ts';
import { type Page, type PageReader, isShort } from './page-reader.ts';

const MAX_PAGE_ROWS = 20_000;
/** What is planned for after a first page of a single row that is longer than pages. */
const GUESSED_ROWS = 500;
/** Page boundaries found in one query. */
const BOUNDARIES = 16;
/**
 * With filters that no index holds, an export reads windows of so many responses at most, of which
 * a page has those that match. Their boundaries are found for a quarter of the pages at a time, so
 * that both queries walk no more of the index than others.
 */
const MAX_WINDOW = 80_000;
const WINDOWS = 4;
/** How many pages are read ahead at least, if there are slots to borrow. */
const MIN_AHEAD = 2;

/**
 * Reads the pages of a file in order. A page is read in the file's slot when the one before it has
 * been sent; others are read ahead of it, in parallel, in slots that nobody else needs, so that a
 * file waits for one round trip to the database, not for one per page. A page whose slot somebody
 * else needs is dropped, and read when it is its turn.
 *
 * Every response stored before the start is returned exactly once. Pages are ranges between two
 * keys, not row counts, so responses stored in the meantime move no boundary; they are returned if
 * they sort after what has been read.
 *
 * With filters that no index holds, a range is a window of the responses without these filters. It
 * has as many as make a page of the usual size, estimated from earlier windows. So no query walks
 * further than its window, however few of the responses match.
 *
 * @param first the first page, already read; it is yielded first
 * @param signal the request's
 */
export async function* readAhead(
  reader: PageReader,
  slots: RequestSlots,
  first: Page,
  signal: AbortSignal,
) {
  yield first;
  if (!first.last || isShort(first)) return;

  const pace = new Pace(reader.pageBytes, first);
  const ranges = reader.batches(() => pace.pageRows) ?? planRanges(reader, first.last, pace);
  const ahead = pagesAhead(reader, slots, pace, ranges);
  signal.addEventListener('abort', ahead.drop);

  try {
    for (;;) {
      ahead.fill();
      const next = ahead.next();
      const range = await next.range;
      if (!range) return;

      let page = (await next.page) ?? (await reader.page(range));
      ahead.fill();
      let bytes = 0;
      for (;;) {
        bytes += page.bytes;
        pace.hasRead(page);
        const started = performance.now();
        yield page;
        pace.sentMs = performance.now() - started;

        const rest = rangeAfter(page, range, reader.pageBytes);
        if (!rest) break;
        page = await reader.page(rest);
      }
      pace.hasReadWindow(range, bytes);
    }
  } finally {
    signal.removeEventListener('abort', ahead.drop);
    ahead.drop();
  }
}

/** Reads the pages of ranges before their turn, each in a slot that is borrowed for it. */
function pagesAhead(
  reader: PageReader,
  slots: RequestSlots,
  pace: Pace,
  ranges: AsyncGenerator<Range, void, void>,
) {
  type PageAhead = NonNullable<ReturnType<typeof begin>>;
  const pages: PageAhead[] = [];
  /** The page whose turn it is. */
  let current: PageAhead | undefined;
  /** The next range; undefined after the last. */
  const nextRange = async () => (await ranges.next()).value ?? undefined;

  function begin() {
    const dropping = new AbortController();
    const drop = () => {
      dropping.abort();
      void page.then((one) => one?.release());
    };
    const endLoan = slots.borrow(drop);
    if (!endLoan) return undefined;

    const range = suppressUnhandledRejection(nextRange());
    const page = suppressUnhandledRejection(readIfWanted(reader, pace, range, dropping.signal));
    return { range, page, dropping, endLoan, drop };
  }

  return {
    /** Begins to read as many pages as are worth it, and as there are slots for. */
    fill() {
      while (pages.length < pace.pagesAhead) {
        const page = begin();
        if (!page) return;
        pages.push(page);
      }
    },

    /** The next page: its range, and the page, unless it has to be read now. */
    next() {
      current = pages.shift();
      current?.endLoan(); // the file's own slot is free
      const page = current?.dropping.signal.aborted ? undefined : current?.page;
      return { range: current?.range ?? nextRange(), page };
    },

    /** Drops all pages. The current one is not freed. */
    drop: () => {
      current?.dropping.abort();
      for (const page of pages.splice(0)) {
        page.endLoan();
        page.drop();
      }
    },
  };
}

/** Reads a page, unless it is dropped, or too large for a slot that it shares. */
async function readIfWanted(
  reader: PageReader,
  pace: Pace,
  next: Promise<Range | undefined>,
  dropping: AbortSignal,
): Promise<Page | undefined> {
  const range = await next;
  if (!range || dropping.aborted) return undefined;

  const started = performance.now();
  try {
    const page = await reader.page(range, dropping);
    pace.hasReadIn(performance.now() - started);
    return page;
  } catch (error) {
    if (dropping.aborted || isTooLarge(error)) return undefined;
    throw error;
  }
}

/** How many rows and pages are read at a time. */
class Pace {
  readonly #pageBytes: number;
  /** How many rows a page should have. */
  pageRows: number;
  /** How many responses a window should have: at first, as if all matched. */
  windowKeys: number;
  /** How long the last page took to be sent, in milliseconds. */
  sentMs = 0;
  #shortestReadMs = Infinity;

  constructor(pageBytes: number, first: Page) {
    this.#pageBytes = pageBytes;
    this.pageRows = GUESSED_ROWS;
    this.hasRead(first);
    this.windowKeys = this.pageRows;
  }

  /**
   * Half as many as can be sent in the shortest time that a read took: reads that overlap take
   * longer, and compete for the database.
   */
  get pagesAhead(): number {
    if (this.#shortestReadMs === Infinity) return MIN_AHEAD;
    const worth = Math.floor(this.#shortestReadMs / (2 * this.sentMs || 1));
    return Math.max(MIN_AHEAD, worth);
  }

  hasReadIn(ms: number): void {
    this.#shortestReadMs = Math.min(this.#shortestReadMs, ms);
  }

  hasRead(page: Page): void {
    // A single long row says nothing of the others.
    const isTypical = page.rowCount > 0 && page.bytes <= 2 * this.#pageBytes;
    if (isTypical) this.pageRows = perPage(page.rowCount, page.bytes, this.#pageBytes);
  }

  /** @param bytes those of the pages of the window */
  hasReadWindow({ windowSize }: Range, bytes: number): void {
    if (windowSize !== undefined)
      this.windowKeys = perPage(windowSize, bytes, this.#pageBytes, MAX_WINDOW);
  }
}

/** What a page leaves of its range; undefined if nothing. */
export function rangeAfter(
  page: Page,
  range: Omit<Range, 'limit'>,
  pageBytes: number,
): Range | undefined {
  if (isShort(page) || isSamePosition(page.last, range.upTo)) return undefined;
  // At most twice as many rows as fit before: more were too large.
  const limit = Math.min(perPage(page.rowCount, page.bytes, pageBytes), 2 * page.requestedRows);
  return { ...range, after: page.last, limit };
}

/** The ranges after the first page: those between page boundaries, or windows, then the rest. */
async function* planRanges(
  reader: PageReader,
  start: Cursor,
  pace: Pace,
): AsyncGenerator<Range, void, void> {
  const { isWalk } = reader;
  const count = isWalk ? WINDOWS : BOUNDARIES;
  const findBoundaries = (after: Cursor) => {
    const rows = isWalk ? pace.windowKeys : pace.pageRows;
    const finding = reader.boundaries(after, rows, count);
    return { rows, boundaries: suppressUnhandledRejection(finding) };
  };

  let after = start;
  let next = findBoundaries(after);
  for (;;) {
    const { rows } = next;
    const boundaries = await next.boundaries;
    const last = boundaries.at(-1);
    const isFull = last !== undefined && boundaries.length === count;
    if (isFull) next = findBoundaries(last); // while the pages before it are read

    const size = isWalk ? { windowSize: rows } : {};
    for (const upTo of boundaries) {
      yield { after, upTo, limit: isWalk ? pace.pageRows : rows, ...size };
      after = upTo;
    }
    if (isFull) continue;
    // fewer than `rows`, unless some were stored since
    yield { after, limit: pace.pageRows, ...size };
    return;
  }
}

/** How many make a page of this size, if so many make one of `bytes`. */
function perPage(count: number, bytes: number, pageBytes: number, most = MAX_PAGE_ROWS): number {
  return Math.min(most, Math.max(1, Math.floor((pageBytes * count) / bytes)));
}

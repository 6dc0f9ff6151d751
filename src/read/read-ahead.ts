import type { RequestSlots } from '../limits/slots.ts';
import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { suppressUnhandledRejection } from '../unhandled-rejection.ts';
import { type Page, type PageReader, isShort } from './page-reader.ts';
import { isTooLarge } from './read-fitting.ts';

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
/** How many pages are read ahead at least, and how many at most if there are slots to borrow. */
const MIN_AHEAD = 2;
const MAX_AHEAD = 7;

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
  const ahead = new PagesAhead(reader, slots, pace, ranges);
  const drop = () => ahead.drop();
  signal.addEventListener('abort', drop);

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
    signal.removeEventListener('abort', drop);
    drop();
  }
}

/** A range, and its page. */
interface NextPage {
  /** Undefined after the last range. */
  readonly range: Promise<Range | undefined>;
  /** Undefined if it has to be read when it is its turn. */
  readonly page: Promise<Page | undefined>;
}

/** A page that is read before its turn, in a slot that is borrowed for it. */
interface PageAhead extends NextPage {
  /** Ends the loan: it is the page's turn, and the file's own slot is free. */
  readonly keep: () => void;
  /** Ends the loan, and frees what is held in the slot. */
  readonly drop: () => void;
  readonly stop: () => void;
}

/** The pages that are read ahead, in order. */
class PagesAhead {
  readonly #reader: PageReader;
  readonly #slots: RequestSlots;
  readonly #pace: Pace;
  readonly #ranges: AsyncGenerator<Range, void, void>;
  readonly #pages: PageAhead[] = [];
  #taken: PageAhead | undefined;

  constructor(
    reader: PageReader,
    slots: RequestSlots,
    pace: Pace,
    ranges: AsyncGenerator<Range, void, void>,
  ) {
    this.#reader = reader;
    this.#slots = slots;
    this.#pace = pace;
    this.#ranges = ranges;
  }

  /** Begins to read as many as are worth it, and as there are slots for. */
  fill(): void {
    while (this.#pages.length < this.#pace.pagesAhead) {
      const page = this.#begin();
      if (!page) return;
      this.#pages.push(page);
    }
  }

  /** The next page. */
  next(): NextPage {
    this.#taken = this.#pages.shift();
    this.#taken?.keep();
    return this.#taken ?? { range: this.#nextRange(), page: Promise.resolve(undefined) };
  }

  /** Ends everything. What the consumer has taken is not freed. */
  drop(): void {
    this.#taken?.stop();
    for (const page of this.#pages.splice(0)) page.drop();
  }

  #begin(): PageAhead | undefined {
    const dropping = new AbortController();
    const { signal } = dropping;
    const free = () => {
      dropping.abort();
      void page.then((one) => one?.release());
    };
    const endLoan = this.#slots.borrow(free);
    if (!endLoan) return undefined;

    const range = suppressUnhandledRejection(this.#nextRange());
    const page = suppressUnhandledRejection(this.#read(range, signal));
    return {
      range,
      get page() {
        return signal.aborted ? Promise.resolve(undefined) : page;
      },
      keep: endLoan,
      stop: () => dropping.abort(),
      drop() {
        endLoan();
        free();
      },
    };
  }

  async #nextRange(): Promise<Range | undefined> {
    return (await this.#ranges.next()).value ?? undefined;
  }

  /** Reads the page of a range, unless it is dropped, or too large for a slot that it shares. */
  async #read(next: Promise<Range | undefined>, dropping: AbortSignal): Promise<Page | undefined> {
    const range = await next;
    if (!range || dropping.aborted) return undefined;

    const started = performance.now();
    try {
      const page = await this.#reader.page(range, dropping);
      this.#pace.hasReadIn(performance.now() - started);
      return page;
    } catch (error) {
      if (dropping.aborted || isTooLarge(error)) return undefined;
      throw error;
    }
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
    return Math.min(MAX_AHEAD, Math.max(MIN_AHEAD, worth));
  }

  hasReadIn(ms: number): void {
    this.#shortestReadMs = Math.min(this.#shortestReadMs, ms);
  }

  hasRead(page: Page): void {
    // A single long row says nothing of the others.
    const isTypical = page.rowCount > 0 && page.bytes <= 2 * this.#pageBytes;
    if (isTypical) this.pageRows = rowsPerPage(page, this.#pageBytes);
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
  const limit = Math.min(rowsPerPage(page, pageBytes), 2 * page.requestedRows);
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
    const finding = reader.boundaries({ after, limit: rows * count }, rows);
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

/** The number of rows, as large as those of a page, that make a page of this size. */
function rowsPerPage({ bytes, rowCount }: Page, pageBytes: number): number {
  return perPage(rowCount, bytes, pageBytes, MAX_PAGE_ROWS);
}

function perPage(count: number, bytes: number, pageBytes: number, most: number): number {
  return Math.min(most, Math.max(1, Math.floor((pageBytes * count) / bytes)));
}

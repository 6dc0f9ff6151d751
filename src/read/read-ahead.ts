import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { suppressUnhandledRejection } from '../unhandled-rejection.ts';
import type { Reservation } from '../limits/lease.ts';
import { type ExportLease, PAGE_BYTES } from './export-lease.ts';
import { type Page, type PageReader, isShort } from './page-reader.ts';

const MAX_PAGE_ROWS = 20_000;
/**
 * Besides the page that is being sent. A single export can read as many at a time, and the
 * boundaries of further ones.
 */
const MAX_PAGES_AHEAD = 5;
/**
 * A page that takes longer to send goes to a slow client, for which no pages are read ahead;
 * milliseconds.
 */
const SLOW_MS = 1_000;
/** Page boundaries found in one query. */
const BOUNDARIES = 16;
/**
 * With filters that no index holds, an export reads windows of so many responses at most, of which
 * a page has those that match. Their boundaries are found for a quarter of the pages at a time, so
 * that both queries walk no more of the index than others.
 */
const MAX_WINDOW = 80_000;
const WINDOWS = 4;

/**
 * Reads the pages of an export in order, ahead of the consumer. After the first page it finds the
 * boundaries of the next ones, and reads the pages between them in parallel: an export waits for
 * one round trip to the database, not for one per page. Concurrent exports read fewer pages ahead
 * (see export-lease.ts).
 *
 * Memory that a page ahead takes is soon free again: either the page is sent, or, if its consumer
 * is slow, it is released, and read again when it is needed.
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
 */
export async function* readAhead(reader: PageReader, lease: ExportLease, first: Page) {
  const { last } = first;
  yield first;
  if (!last || isShort(first)) return;

  let pageRows = rowsPerPage(first, lease.pageBytes);
  let windowKeys = pageRows; // as if all matched
  let shortestReadMs = 0;
  let sentMs = 0;
  /**
   * Half as many as can be sent in the shortest time that a read took: reads that overlap take
   * longer, and compete for the database.
   */
  const pagesAhead = () =>
    sentMs >= SLOW_MS
      ? 0
      : Math.min(MAX_PAGES_AHEAD, Math.max(2, Math.floor(shortestReadMs / (2 * sentMs || 1))));
  const ranges =
    reader.batches?.(() => pageRows) ?? planRanges(reader, last, () => ({ pageRows, windowKeys }));
  /** The ranges of pages that were released unsent, in order. */
  const released: Promise<Range | undefined>[] = [];

  const readNext = async (reservation: Reservation) => {
    const range = await (released.shift() ?? ranges.next().then(({ value }) => value));
    if (!range) return lease.releasePage(reservation);
    const started = performance.now();
    const page = await reader.page(range, reservation);
    shortestReadMs = Math.min(shortestReadMs || Infinity, performance.now() - started);
    return { range, page };
  };
  const ahead: { reservation: Reservation; reading: ReturnType<typeof readNext> }[] = [];
  const fill = (pages: number) => {
    while (ahead.length < pages) {
      const reservation = lease.acquirePage();
      if (!reservation) return;
      ahead.push({ reservation, reading: suppressUnhandledRejection(readNext(reservation)) });
    }
  };
  const releaseAhead = () => {
    const unsent = ahead.splice(0).map(({ reservation, reading }) => {
      lease.releasePage(reservation);
      const range = reading.then((next) => {
        next?.page.release();
        return next?.range;
      });
      return suppressUnhandledRejection(range);
    });
    released.unshift(...unsent); // some that follow them may have been released before
  };

  for (;;) {
    fill(pagesAhead() || 1);
    // a page can always be acquired
    const { reservation, reading } = ahead.shift() as (typeof ahead)[number];
    const next = await reading;
    if (!next) return;
    fill(pagesAhead());
    let { page } = next;
    let bytes = 0;
    for (let rest: Range | undefined = next.range; ; page = await reader.page(rest, reservation)) {
      if (page.rowCount > 0) pageRows = rowsPerPage(page, lease.pageBytes);
      bytes += page.bytes;
      const started = performance.now();
      const slow = setTimeout(releaseAhead, SLOW_MS);
      try {
        yield page;
      } finally {
        clearTimeout(slow);
      }
      sentMs = performance.now() - started;
      rest = rangeAfter(page, rest);
      if (!rest) break;
    }
    if (next.range.windowSize !== undefined)
      windowKeys = perPage(next.range.windowSize, bytes, lease.pageBytes, MAX_WINDOW);
    lease.releasePage(reservation); // it has been sent
  }
}

/** What a page leaves of its range; undefined if nothing. */
export function rangeAfter(page: Page, range: Omit<Range, 'limit'>): Range | undefined {
  if (isShort(page) || isSamePosition(page.last, range.upTo)) return undefined;
  // At most twice as many rows as fit before: more were too large.
  return { ...range, after: page.last, limit: Math.min(rowsPerPage(page), 2 * page.requestedRows) };
}

/** The ranges after the first page: those between page boundaries, or windows, then the rest. */
async function* planRanges(
  reader: PageReader,
  start: Cursor,
  sizes: () => { pageRows: number; windowKeys: number },
): AsyncGenerator<Range, undefined, void> {
  const { isWalk } = reader;
  const count = isWalk ? WINDOWS : BOUNDARIES;
  const findBoundaries = (after: Cursor) => {
    const { pageRows, windowKeys } = sizes();
    const rows = isWalk ? windowKeys : pageRows;
    return {
      rows,
      boundaries: suppressUnhandledRejection(
        reader.boundaries({ after, limit: rows * count }, rows),
      ),
    };
  };
  const rangeOf = (rows: number) =>
    isWalk ? { limit: sizes().pageRows, windowSize: rows } : { limit: rows };
  let after = start;
  let next = findBoundaries(after);
  for (;;) {
    const { rows } = next;
    const boundaries = await next.boundaries;
    const last = boundaries.at(-1);
    // while the pages before it are read
    if (last && boundaries.length === count) next = findBoundaries(last);
    for (const upTo of boundaries) {
      yield { after, upTo, ...rangeOf(rows) };
      after = upTo;
    }
    if (boundaries.length === count) continue;
    // fewer than `rows`, unless some were stored since
    yield { after, limit: sizes().pageRows, ...(isWalk ? { windowSize: rows } : {}) };
    return undefined;
  }
}

/** The number of rows, as large as those of a page, that make a page of the usual size. */
function rowsPerPage({ bytes, rowCount }: Page, pageBytes = PAGE_BYTES): number {
  return perPage(rowCount, bytes, pageBytes, MAX_PAGE_ROWS);
}

function perPage(count: number, bytes: number, pageBytes: number, most: number): number {
  return Math.min(most, Math.max(1, Math.floor((pageBytes * count) / bytes)));
}

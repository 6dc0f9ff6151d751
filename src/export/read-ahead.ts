import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { EXPORT_PAGE_BYTES, type ExportLease } from './limits.ts';
import { type Page, type PageReader, isShort } from './page-reader.ts';

/** The first page is small: it decides the status, and the client gets its first byte soon. */
const FIRST_PAGE_ROWS = 500;
const MAX_PAGE_ROWS = 20_000;
/** Besides the page that is being sent. More take more memory, and are faster only if the database is far away. */
const PAGES_AHEAD = 2;
/** Page boundaries found in one query. */
const BOUNDARIES = 16;

/**
 * Reads a selection's responses in order, those after a cursor or all, up to two pages ahead of the consumer. After the first
 * page it finds the boundaries of the next pages, and reads the pages between them in parallel: an export waits for one round
 * trip to the database, not for one per page. If the consumer pauses, reading stops once the pages ahead have arrived. Concurrent
 * exports read fewer pages ahead (see limits.ts).
 *
 * Every response stored before the start is returned exactly once. Pages are ranges between two keys, not row counts, so
 * responses stored in the meantime move no boundary; they are returned if they sort after what has been read.
 *
 * The first `next()` reads one page and starts nothing else.
 */
export async function* readAhead(
  reader: PageReader,
  lease: ExportLease,
  after?: Cursor,
): AsyncGenerator<Page, void, void> {
  const start = readRange(reader, { after, limit: FIRST_PAGE_ROWS });
  const first = (await start.next()).value as Page;
  const { last } = first;
  yield first;
  if (!last || isShort(first)) {
    yield* start;
    return;
  }

  let pageRows = rowsPerPage(first, lease.pageBytes);
  const ranges = planRanges(reader, last, () => pageRows);
  let isPlanned = false;
  const readNext = async () => {
    const { value: range } = await ranges.next();
    if (range) {
      const pages = readRange(reader, range);
      return { first: await lease.read(() => pages.next()), rest: pages };
    }
    isPlanned = true;
    lease.givePage();
    return undefined;
  };
  const ahead: ReturnType<typeof readNext>[] = [];
  const hasRoom = () => !isPlanned && ahead.length < PAGES_AHEAD && lease.takePage();
  const fill = () => {
    while (hasRoom()) ahead.push(handled(readNext()));
  };
  for (;;) {
    fill();
    const range = await ahead.shift();
    if (!range) return;
    fill();
    for await (const page of withFirst([range.first], range.rest)) {
      if (page.rowCount > 0) pageRows = rowsPerPage(page, lease.pageBytes);
      yield page;
    }
    lease.givePage(); // it has been sent
  }
}

/**
 * Reads a range page by page. The first page requests `range.limit` rows, and the following ones as many as make a page of the
 * usual size.
 *
 * A result that lost its last rows would look like the end of the range. So only the row at `range.upTo` ends it, or an empty
 * page after a page with fewer rows than requested. With a `total`, such a page suffices unless it is empty.
 *
 * @param total the number of rows after which to stop
 * @returns the pages; only the first one can be empty
 */
export async function* readRange(reader: PageReader, range: Range, total = Infinity): AsyncGenerator<Page, void, void> {
  let left = total;
  let wasShort = false;
  for (let rest = range; ;) {
    const page = await reader.page(rest);
    const { last = rest.after, rowCount, requestedRows } = page;
    left -= rowCount;
    if (rowCount > 0 || rest === range) yield page;
    const isEnd = rowCount === 0 ? wasShort : isShort(page) && total < Infinity;
    if (isEnd || left === 0 || isSamePosition(last, range.upTo)) return;
    wasShort = isShort(page);
    // At most twice as many rows as fit before: more were too large.
    const limit = wasShort ? requestedRows : Math.min(rowsPerPage(page), 2 * requestedRows);
    rest = { after: last, upTo: range.upTo, limit: Math.min(limit, left) };
  }
}

/** An iteration whose first results have already been read. */
export async function* withFirst<T>(
  first: readonly IteratorResult<T, void>[],
  rest: AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  for (const result of first) {
    if (result.done) return;
    yield result.value;
  }
  yield* rest;
}

/** The ranges after the first page: those between page boundaries, then the rest. */
async function* planRanges(
  reader: PageReader,
  start: Cursor,
  pageRows: () => number,
): AsyncGenerator<Range, undefined, void> {
  const findBoundaries = (after: Cursor) => {
    const rows = pageRows();
    return { rows, boundaries: handled(reader.boundaries({ after, limit: rows * BOUNDARIES }, rows)) };
  };
  let after = start;
  let next = findBoundaries(after);
  for (;;) {
    const { rows } = next;
    const boundaries = await next.boundaries;
    const last = boundaries.at(-1);
    if (last && boundaries.length === BOUNDARIES) next = findBoundaries(last); // while the pages before it are read
    for (const boundary of boundaries) {
      yield { after, upTo: boundary, limit: rows, rows };
      after = boundary;
    }
    if (boundaries.length < BOUNDARIES) break;
  }
  yield { after, limit: pageRows() };
  return undefined;
}

/** The number of rows, as large as those of a page, that make a page of the usual size. */
function rowsPerPage({ bytes, rowCount }: Page, pageBytes = EXPORT_PAGE_BYTES): number {
  return Math.min(MAX_PAGE_ROWS, Math.max(1, Math.floor((pageBytes * rowCount) / bytes)));
}

/** Reports a failure when the promise is awaited, not as an unhandled rejection before. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

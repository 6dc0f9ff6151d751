import type { Cursor } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { Page, PageReader } from './page-reader.ts';

/** The first page is small: it decides the status, and the client gets its first byte soon. */
const FIRST_PAGE_ROWS = 500;
/** Smaller pages cost round trips; larger ones cost memory, since several are held at a time. */
const PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_ROWS = 20_000;
/** With the boundary query, these are the six requests that a Worker may have waiting for headers at a time. */
const PAGES_AHEAD = 5;
/** Page boundaries found in one query. */
const BOUNDARIES = 16;

/**
 * Reads a selection's responses in order, those after a cursor or all, several pages ahead of the consumer. After the first
 * page it finds the boundaries of the next pages, and reads the pages between them in parallel: an export waits for one round
 * trip to the database, not for one per page. If the consumer pauses, reading stops once the pages ahead have arrived. Concurrent
 * exports read fewer pages ahead (see {@link MemoryBudget}).
 *
 * Every response stored before the start is returned exactly once. Pages are ranges between two keys, not row counts, so
 * responses stored in the meantime move no boundary; they are returned if they sort after what has been read.
 *
 * The first `next()` reads one page and starts nothing else.
 */
export async function* readAhead(reader: PageReader, after?: Cursor): AsyncGenerator<Page, void, void> {
  const first = await reader.page({ after, limit: FIRST_PAGE_ROWS });
  const { last } = first;
  yield first;
  if (!last || first.rowCount < first.requestedRows) return;

  let pageRows = rowsPerPage(first);
  const ranges = planRanges(reader, last, () => pageRows);
  const budget = new MemoryBudget();
  let isPlanned = false;
  const readNext = async () => {
    const { value: range } = await ranges.next();
    if (range) {
      const pages = readRange(reader, range);
      return { first: await pages.next(), rest: pages };
    }
    isPlanned = true;
    budget.give();
    return undefined;
  };
  const ahead: ReturnType<typeof readNext>[] = [];
  const hasRoom = () => !isPlanned && ahead.length < PAGES_AHEAD && budget.take();
  const fill = () => {
    while (hasRoom()) ahead.push(handled(readNext()));
  };
  try {
    fill();
    for (;;) {
      const range = await ahead.shift();
      if (!range) return;
      budget.give();
      fill();
      for await (const page of withFirst(range.first, range.rest)) {
        if (page.rowCount > 0) pageRows = rowsPerPage(page);
        yield page;
      }
    }
  } finally {
    budget.end();
  }
}

/**
 * Reads a range page by page. The first page requests `range.limit` rows, and the following ones as many as make a page of the
 * usual size.
 *
 * @param total the number of rows after which to stop
 */
export async function* readRange(reader: PageReader, range: Range, total = Infinity): AsyncGenerator<Page, void, void> {
  let left = total;
  for (let rest = range; ;) {
    const page = await reader.page(rest);
    const { last, rowCount, requestedRows } = page;
    left -= rowCount;
    yield page;
    if (!last || rowCount < requestedRows || left === 0) return;
    // At most twice as many rows as fit before: more were too large.
    rest = { ...range, after: last, limit: Math.min(rowsPerPage(page), 2 * requestedRows, left) };
  }
}

/** An iteration whose first result has already been read. */
export async function* withFirst<T>(
  first: IteratorResult<T, void>,
  rest: AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  if (first.done) return;
  yield first.value;
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
      // One row more than expected, because only a page with fewer rows than requested ends its range.
      yield { after, upTo: boundary, limit: rows + 1 };
      after = boundary;
    }
    if (boundaries.length < BOUNDARIES) break;
  }
  yield { after, limit: pageRows() };
  return undefined;
}

/** The number of rows, as large as those of a page, that make a page of the usual size. */
function rowsPerPage({ bytes, rowCount }: Page): number {
  return Math.min(MAX_PAGE_ROWS, Math.max(1, Math.floor((PAGE_BYTES * rowCount) / bytes)));
}

/** Reports a failure when the promise is awaited, not as an unhandled rejection before. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

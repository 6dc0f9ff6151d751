import { type Cursor, isSamePosition } from '../responses/cursor.ts';
import type { Range } from '../responses/selection.ts';
import { suppressUnhandledRejection } from '../unhandled-rejection.ts';
import { EXPORT_PAGE_BYTES, type ExportLease } from './limits.ts';
import { type Page, type PageReader, isShort } from './page-reader.ts';

const MAX_PAGE_ROWS = 20_000;
/** Besides the page that is being sent. More take more memory, and are faster only if the database is far away. */
const PAGES_AHEAD = 2;
/** Page boundaries found in one query. */
const BOUNDARIES = 16;

/**
 * Reads the pages of an export in order, up to two ahead of the consumer. After the first page it finds the boundaries of the next
 * ones, and reads the pages between them in parallel: an export waits for one round trip to the database, not for one per page. If
 * the consumer pauses, reading stops once the pages ahead have arrived. Concurrent exports read fewer pages ahead (see limits.ts).
 *
 * Every response stored before the start is returned exactly once. Pages are ranges between two keys, not row counts, so
 * responses stored in the meantime move no boundary; they are returned if they sort after what has been read.
 *
 * @param first the first page, already read; it is yielded first
 */
export async function* readAhead(
  reader: PageReader,
  lease: ExportLease,
  first: Page,
): AsyncGenerator<Page, void, void> {
  const { last } = first;
  yield first;
  if (!last || isShort(first)) return;

  let pageRows = rowsPerPage(first, lease.pageBytes);
  const ranges = planRanges(reader, last, () => pageRows);
  let isPlanned = false;
  const readNext = async () => {
    const { value: range } = await ranges.next();
    if (range) return { range, page: await lease.read(() => reader.page(range)) };
    isPlanned = true;
    lease.releasePage();
    return undefined;
  };
  const ahead: ReturnType<typeof readNext>[] = [];
  const hasRoom = () => !isPlanned && ahead.length < PAGES_AHEAD && lease.acquirePage();
  const fill = () => {
    while (hasRoom()) ahead.push(suppressUnhandledRejection(readNext()));
  };
  for (;;) {
    fill();
    const next = await ahead.shift();
    if (!next) return;
    fill();
    let { page } = next;
    for (let rest: Range | undefined = next.range; ; page = await reader.page(rest)) {
      if (page.rowCount > 0) pageRows = rowsPerPage(page, lease.pageBytes);
      yield page;
      rest = rangeAfter(page, rest);
      if (!rest) break;
    }
    lease.releasePage(); // it has been sent
  }
}

/** What a page leaves of its range; undefined if nothing. */
export function rangeAfter(page: Page, { upTo }: Pick<Range, 'upTo'>): Range | undefined {
  if (isShort(page) || isSamePosition(page.last, upTo)) return undefined;
  // At most twice as many rows as fit before: more were too large.
  return { after: page.last, upTo, limit: Math.min(rowsPerPage(page), 2 * page.requestedRows) };
}

/** The ranges after the first page: those between page boundaries, then the rest. */
async function* planRanges(
  reader: PageReader,
  start: Cursor,
  pageRows: () => number,
): AsyncGenerator<Range, undefined, void> {
  const findBoundaries = (after: Cursor) => {
    const rows = pageRows();
    return {
      rows,
      boundaries: suppressUnhandledRejection(reader.boundaries({ after, limit: rows * BOUNDARIES }, rows)),
    };
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

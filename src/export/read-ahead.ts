import type { Cursor } from '../responses/cursor.ts';
import type { Range } from '../db/selection.ts';
import { type Fitting, type ReadPage, type SizedPage, readFitting, rowsAfter, rowsFor } from './fitting.ts';
import { MemoryShare } from './memory-share.ts';

/** A page as it goes into a file. */
export interface FilePage extends SizedPage {
  readonly data: Uint8Array;
  /** Frees the memory of `data`, which has been used. */
  readonly release: () => void;
}

/** Reads a selection of responses from the database. */
export interface ResponseReader<P extends SizedPage> {
  readonly page: ReadPage<P>;
  /** The last key of every `pageRows` rows among the first `range.limit` of a range. */
  readonly borders: (range: Range, pageRows: number) => Promise<Required<Cursor>[]>;
}

/** The first page is small: it decides the status, and the client sees its first byte soon. */
const FIRST_PAGE_ROWS = 500;
/** With the border query that is six requests, as many as a Worker may have waiting for headers; a further one waits. */
const PAGES_AHEAD = 5;
/** Page borders fetched in one query. */
const BORDERS = 16;

/**
 * Reads a selection's responses in order, those behind a cursor or all of them, several pages ahead of the consumer. The
 * first page alone says whether there is anything; then the borders of the pages to come are looked up, and the pages
 * between them read side by side, so that a round trip to the database is waited for once and not once a page. A consumer
 * that pauses stops the reading as soon as the pages ahead are there; beside other exports those are fewer (see
 * {@link MemoryShare}).
 *
 * Every response that was there at the start comes exactly once. Pages are stretches between two keys, not counts, so
 * what arrives meanwhile moves no border: it comes too if its place is still ahead.
 *
 * The first `next()` reads one page and starts nothing else.
 */
export async function* readAhead<P extends SizedPage>(
  reader: ResponseReader<P>,
  after?: Cursor,
): AsyncGenerator<P, void, void> {
  const first = await readFitting(reader.page, { after, limit: FIRST_PAGE_ROWS });
  yield first.page;
  if (!first.page.last || first.page.rowCount < first.limit) return;

  let pageRows = rowsFor(first.page);
  const ranges = planRanges(reader, first.page.last, () => pageRows);
  const share = new MemoryShare();
  let planned = false;
  const readNext = async () => {
    const { value: range } = await ranges.next();
    if (range) return { range, start: await readFitting(reader.page, range) };
    planned = true;
    share.give();
    return undefined;
  };
  const ahead: ReturnType<typeof readNext>[] = [];
  const hasRoom = () => !planned && ahead.length < PAGES_AHEAD && share.take();
  const fill = () => {
    while (hasRoom()) ahead.push(handled(readNext()));
  };
  try {
    fill();
    for (;;) {
      const next = await ahead.shift();
      if (!next) return;
      share.give();
      fill();
      for await (const page of restOf(reader.page, next.range, next.start)) {
        if (page.rowCount > 0) pageRows = rowsFor(page);
        yield page;
      }
    }
  } finally {
    share.end();
  }
}

/** The stretches to read after the first page: between borders while there are any, then to the end, however far it is. */
async function* planRanges<P extends SizedPage>(
  reader: ResponseReader<P>,
  start: Cursor,
  pageRows: () => number,
): AsyncGenerator<Range, undefined, void> {
  const lookUp = (after: Cursor) => {
    const rows = pageRows();
    const borders = handled(reader.borders({ after, limit: rows * BORDERS }, rows));
    return { rows, borders };
  };
  let after = start;
  let coming = lookUp(after);
  for (;;) {
    const { rows } = coming;
    const borders = await coming.borders;
    const last = borders.at(-1);
    if (last && borders.length === BORDERS) coming = lookUp(last); // while the pages before it are read
    for (const border of borders) {
      yield { after, upTo: border, limit: rows + 1 }; // one more than planned: a page that is full would not tell its end
      after = border;
    }
    if (borders.length < BORDERS) break;
  }
  yield { after, limit: pageRows() };
  return undefined;
}

/** The pages of a range whose first is there already: one, unless it was too large, or more arrived than was planned. */
async function* restOf<P extends SizedPage>(
  read: ReadPage<P>,
  range: Range,
  start: Fitting<P>,
): AsyncGenerator<P, void, void> {
  for (let part = start; ;) {
    const { page, limit } = part;
    yield page;
    if (!page.last || page.rowCount < limit) return;
    part = await readFitting(read, { ...range, after: page.last, limit: rowsAfter(part) });
  }
}

/** A failure ahead of its turn is reported when its turn comes, not as an unhandled rejection. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

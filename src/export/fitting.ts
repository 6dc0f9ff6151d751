import type { Cursor } from '../responses/cursor.ts';
import { DatabaseError } from '../db/errors.ts';
import type { Range } from '../db/selection.ts';

/** A part of a survey's responses, read in one request. */
export interface Page {
  readonly rowCount: number;
  /** The last row's place; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
}

/** A page whose size is known, so that the next can be sized by it. */
export interface SizedPage extends Page {
  /** What it took of memory while it was made, in bytes. */
  readonly bytes: number;
}

/** Reads the first `range.limit` rows of a range. @throws DatabaseError `too-large` when they are too large to read at once */
export type ReadPage<P extends Page> = (range: Range) => Promise<P>;

/** A page, and how many rows were asked for in the end: fewer in the page mean that the range has no more. */
export interface Fitting<P extends Page> {
  readonly page: P;
  readonly limit: number;
}

/** What a page should weigh. Smaller ones cost round trips, larger ones memory: several are held at a time. */
const PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_ROWS = 20_000;
/** Halving would ask fifteen times for a page of 20,000 rows before it came to one enormous row; this asks eight times. */
const SHRINK = 4;

/**
 * Reads the first rows of a range, as many of `range.limit` as fit one answer: each answer that is too large divides the
 * number by four, down to one row.
 */
export async function readFitting<P extends Page>(read: ReadPage<P>, range: Range): Promise<Fitting<P>> {
  for (let { limit } = range; ; limit = Math.ceil(limit / SHRINK)) {
    try {
      return { page: await read({ ...range, limit }), limit };
    } catch (error) {
      const tooLarge = error instanceof DatabaseError && error.kind === 'too-large';
      if (!tooLarge || limit === 1) throw error;
    }
  }
}

/** How many rows such as these a page should have. */
export function rowsFor({ bytes, rowCount }: SizedPage): number {
  return Math.min(MAX_PAGE_ROWS, Math.max(1, Math.floor((PAGE_BYTES * rowCount) / bytes)));
}

/** How many to ask for after a page: not at once as many again as may just have been too large, nor as few for ever. */
export function rowsAfter({ page, limit }: Fitting<SizedPage>): number {
  return Math.min(rowsFor(page), 2 * limit);
}

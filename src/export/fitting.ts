import type { Cursor } from '../cursor.ts';
import { DatabaseError } from '../db/errors.ts';
import type { Range } from '../db/selection.ts';

/** A part of a survey's responses, read in one request. */
export interface Page {
  readonly rowCount: number;
  /** The last row's place; undefined on an empty page. */
  readonly last: Required<Cursor> | undefined;
}

/** Reads the first `range.limit` rows of a range. @throws DatabaseError `too-large` when they are too large to read at once */
export type ReadPage<P extends Page> = (range: Range) => Promise<P>;

/** A page, and how many rows were asked for in the end: fewer in the page mean that the range has no more. */
export interface Fitting<P extends Page> {
  readonly page: P;
  readonly limit: number;
}

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

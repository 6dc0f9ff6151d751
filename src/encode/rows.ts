import { ZERO } from './ascii.ts';

/** Rows, encoded. */
export interface EncodedRows {
  /** The records or objects; empty when there are no rows. */
  readonly data: Uint8Array<ArrayBuffer>;
  /**
   * The position of each cell in `data`, row by row, then the length of `data`: a cell ends before
   * the byte that precedes the next one. Empty unless requested.
   */
  readonly cells: Int32Array<ArrayBuffer>;
}

/** A page of rows, encoded. */
export interface EncodedPage extends EncodedRows {
  readonly rowCount: number;
  /** The last row's texts in the key columns, null for a null. Empty when there are no rows. */
  readonly lastKey: readonly (string | null)[];
  /** The last row's text in the cell that is checked. */
  readonly check: string | null;
}

/**
 * Encodes rows from the JSON of a SQL-over-HTTP response: a compact array of arrays of texts and
 * nulls. Each row ends with a cell that begins with the row's number, from 1, and is not written:
 * see db/proof.ts. The encoder may overwrite the array.
 *
 * @param start the position of the array's `[`
 * @throws MalformedRowsError if the array is empty, truncated or malformed, or its rows are not in
 * their order
 */
export type EncodeRows = (bytes: Uint8Array<ArrayBuffer>, start: number) => EncodedPage;

/** Whether the digits at a position are those of this number. */
export function beginsWith(number: number, bytes: Uint8Array, at: number): boolean {
  let found = 0;
  for (let i = at; ; i++) {
    const digit = (bytes[i] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return found === number;
    found = 10 * found + digit;
  }
}

/** The bytes are not a complete array of rows. */
export class MalformedRowsError extends Error {
  override name = 'MalformedRowsError';
}

/** @param at the position in the response, in bytes from 0 */
export function malformed(at: number): MalformedRowsError {
  return new MalformedRowsError(`unexpected byte or end at position ${at} of a response`);
}

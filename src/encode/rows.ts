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
  /** The position of the last row in the JSON, which is not encoded. */
  readonly end: number;
}

/**
 * Encodes rows from the JSON of a SQL-over-HTTP response: a compact array of arrays of texts and
 * nulls. The last row is not encoded: see db/proof.ts. The encoder may overwrite what is before it.
 *
 * @param start the position of the array's `[`
 * @param last the bytes with which the last row begins, and no other
 * @throws an error if the array is malformed, or has no such row: see {@link malformed}
 */
export type EncodeRows = (
  bytes: Uint8Array<ArrayBuffer>,
  start: number,
  last: Uint8Array,
) => EncodedPage;

/** Whether some bytes are at a position. */
export function isAt(some: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < some.length; i++) if (some[i] !== bytes[at + i]) return false;
  return true;
}

/**
 * The error for bytes that are not a complete array of rows.
 *
 * @param at the position in the response, in bytes from 0
 */
export const malformed = (at: number) =>
  new Error(`unexpected byte or end at position ${at} of a response`);

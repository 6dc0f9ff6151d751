/** Rows, encoded. */
export interface EncodedRows {
  /** The records or objects; empty when there are no rows. */
  readonly data: Uint8Array<ArrayBuffer>;
  /**
   * The position of each cell in `data`, row by row, then the length of `data`: a cell ends before the byte that precedes the
   * next one. Empty unless requested.
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
 * Encodes rows from the JSON of a SQL-over-HTTP response: a compact array of arrays of texts and nulls. Each row ends with a
 * cell that is returned but not written: see db/proof.ts. The encoder may overwrite the array.
 *
 * @param start the position of the array's `[`
 * @throws MalformedRowsError if the array is empty, truncated or malformed, or two rows that follow each other have the same key
 */
export type EncodeRows = (bytes: Uint8Array<ArrayBuffer>, start: number) => EncodedPage;

/** The key of the row that was read last, by the positions of its cells. */
export class LastKey {
  readonly #columns: readonly number[];
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  constructor(columns: readonly number[]) {
    this.#columns = columns;
    this.#starts = new Int32Array(columns.length);
    this.#ends = new Int32Array(columns.length);
  }

  /**
   * Moves to the next row.
   *
   * @param starts the positions of its cells, by column
   * @param ends the positions after its cells, or after their separators
   * @returns false if its key is the same, because a row was replaced by a copy of its neighbour
   */
  next(bytes: Uint8Array, starts: Int32Array, ends: Int32Array): boolean {
    let isSame = this.#columns.length > 0;
    for (let i = 0; i < this.#columns.length; i++) {
      const column = this.#columns[i] as number;
      const end = ends[column] as number;
      const start = starts[column] as number;
      isSame &&= end - start === (this.#ends[i] as number) - (this.#starts[i] as number);
      // The comparison starts at the end, where two times differ.
      const offset = (this.#ends[i] as number) - end;
      for (let at = end - 1; isSame && at >= start; at--) isSame = bytes[at] === bytes[at + offset];
      this.#starts[i] = start;
      this.#ends[i] = end;
    }
    return !isSame;
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

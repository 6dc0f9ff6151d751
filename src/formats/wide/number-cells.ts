import { COMMA, POINT, ZERO } from '../../encode/ascii.ts';
import type { EncodedRows } from '../../encode/rows.ts';

/** More cells than a record has. */
const CELLS = 16;
/** The most that a number takes, with its point and separator. */
const CELL_BYTES = 24;

/**
 * Cells of numbers, as a page of one record. Their digits are written one by one: to encode them as
 * texts would take longer than everything else in a short record.
 */
export class NumberCells implements EncodedRows {
  readonly data = new Uint8Array(CELLS * CELL_BYTES);
  readonly cells = new Int32Array(CELLS + 1);
  count = 0;
  #length = 0;

  clear(): this {
    this.count = this.#length = 0;
    return this;
  }

  /**
   * Adds a number, written without trailing zeros.
   *
   * @param millionths its fraction: 0 to 999,999
   */
  add(whole: number, millionths = 0): this {
    this.#digits(whole, 1);
    if (millionths > 0) {
      this.data[this.#length++] = POINT;
      this.#digits(millionths, 6);
      while (this.data[this.#length - 1] === ZERO) this.#length--;
    }

    this.data[this.#length++] = COMMA;
    this.cells[++this.count] = this.#length;
    return this;
  }

  #digits(number: number, least: number): void {
    let digits = least;
    for (let power = 10 ** least; power <= number; power *= 10) digits++;
    this.#length += digits;

    let rest = number;
    for (let at = 1; at <= digits; at++) {
      const tens = Math.floor(rest / 10);
      this.data[this.#length - at] = ZERO + rest - 10 * tens;
      rest = tens;
    }
  }
}

import { ZERO } from '../../encode/ascii.ts';
import type { EncodedRows } from '../../encode/rows.ts';

/** More cells than a record has. */
const CELLS = 16;
/** The most that a number takes, with its point and separator. */
const CELL_BYTES = 24;

/** Cells of numbers, as a page of one record. It needs no further memory. */
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
    this.#write(String(whole));
    if (millionths > 0) {
      this.#write(`.${String(1_000_000 + millionths).slice(1)}`);
      while (this.data[this.#length - 1] === ZERO) this.#length--;
    }

    this.#write(',');
    this.cells[++this.count] = this.#length;
    return this;
  }

  /** Writes ASCII: the call of a `TextEncoder` takes longer than a short text. */
  #write(text: string): void {
    for (let i = 0; i < text.length; i++) this.data[this.#length++] = text.charCodeAt(i);
  }
}

import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { cellLength } from './text-length.ts';

/** In characters. */
const MIN_WIDTH = 8;
const MAX_WIDTH = 60;
/** The width of a column includes the margins of its cells, which take most of a character. */
const MARGINS = 1;

const NOTHING = new Uint8Array(0);

/** Measures the columns of records, and writes nothing. */
export class ColumnWidths implements RecordWriter {
  readonly length = 0;
  readonly #longest: number[] = [];
  #column = 0;

  cells(page: EncodedRows, from: number, to: number): void {
    for (let cell = from; cell < to; cell++, this.#column++) {
      this.#longest[this.#column] = Math.max(this.#longest[this.#column] ?? 0, cellLength(page, cell));
    }
  }

  skip(count: number): void {
    this.#column += count;
  }

  endRecord(): void {
    this.#column = 0;
  }

  take(): Uint8Array {
    return NOTHING;
  }

  /** A width for each column that holds its longest cell, within limits; in characters. */
  get widths(): number[] {
    return this.#longest.map((length) => Math.min(Math.max(length + MARGINS, MIN_WIDTH), MAX_WIDTH));
  }
}

import { readCell } from '../../encode/csv.ts';
import { Output } from '../../encode/bytes.ts';
import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';

/** The length in UTF-16 of the text of a CSV cell. */
export function cellLength({ data, cells }: EncodedRows, cell: number): number {
  const end = (cells[cell + 1] as number) - 1;
  return readCell(data, cells[cell] as number, end)?.length ?? 0;
}

/** In characters. */
const MIN_WIDTH = 8;
const MAX_WIDTH = 60;
/** The width of a column includes the margins of its cells, which take most of a character. */
const MARGINS = 1;

/** Measures the columns of records, and writes nothing. */
export class ColumnWidths implements RecordWriter {
  readonly output = new Output();
  readonly #longest: number[] = [];
  #column = 0;

  cells(page: EncodedRows, from: number, to: number): void {
    for (let cell = from; cell < to; cell++, this.#column++) {
      this.#longest[this.#column] = Math.max(
        this.#longest[this.#column] ?? 0,
        cellLength(page, cell),
      );
    }
  }

  skip(count: number): void {
    this.#column += count;
  }

  endRecord(): void {
    this.#column = 0;
  }

  /** A width for each column that holds its longest cell, within limits; in characters. */
  get widths(): number[] {
    return this.#longest.map((length) =>
      Math.min(Math.max(length + MARGINS, MIN_WIDTH), MAX_WIDTH),
    );
  }
}

import { COMMA, LF } from './ascii.ts';
import { Output, concat, utf8 } from './bytes.ts';
import type { EncodedRows } from './rows.ts';

/**
 * Writes the records of a table cell by cell. Cells are CSV, quoted where necessary: see csv.ts.
 */
export interface RecordWriter {
  /** What has been written. */
  readonly output: Output;
  /**
   * Writes cells of a page as the next cells of the record: those of one row from `from` to before
   * `to`.
   */
  cells(page: EncodedRows, from: number, to: number): void;
  /** Leaves the next cells of the record empty. */
  skip(count: number): void;
  endRecord(): void;
}

/** Writes records as CSV. */
export class CsvRecords implements RecordWriter {
  readonly output = new Output();

  cells({ data, cells }: EncodedRows, from: number, to: number): void {
    const start = cells[from] as number;
    const end = (cells[to] as number) - 1;
    this.output.reserve(end - start + 1);
    this.output.write(data, start, end);
    this.output.writeByte(COMMA);
  }

  skip(count: number): void {
    this.output.reserve(count);
    for (let i = 0; i < count; i++) this.output.writeByte(COMMA);
  }

  endRecord(): void {
    this.output.bytes[this.output.length - 1] = LF;
  }
}

/**
 * A text as a CSV cell, in the dialect of csv.ts: quoted only if it contains a comma, a quote, CR
 * or LF, or is empty.
 */
export function csvCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Texts as a page of one record. */
export function recordOf(texts: readonly string[]): EncodedRows {
  const cells = texts.map((text) => utf8.encode(`${csvCell(text)},`));
  const data = concat(...cells);
  data[data.length - 1] = LF;

  const positions = [0];
  for (const { length } of cells) positions.push((positions.at(-1) as number) + length);
  return { data, cells: Int32Array.from(positions) };
}

/** The header record of a CSV file. */
export const csvHeader = (names: readonly string[]) => recordOf(names).data;

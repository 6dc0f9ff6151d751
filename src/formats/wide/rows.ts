import { ANSWERS, type Column, lacksMetadata, questionAmong } from '../../db/responses.ts';
import { Output, free } from '../../encode/bytes.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { Values } from '../../http/parameters.ts';
import type { Arm } from '../../responses/arm.ts';
import { addedColumns } from '../long-table.ts';

/** What to read of each response. */
export type RowOptions = Partial<
  Values<'value' | 'metadata' | 'arm' | 'timing' | 'require_metadata' | 'require_question'>
>;

/*
 * The cells of a row. Those of a record's key, form version and flow come first, so that one
 * comparison tells whether a row has the same as the row before it.
 */
export const KEY = 0;
export const PARENT = 1;
export const SURVEYID = 3;
export const FLOWID = 4;
export const QUESTION_REF = 5;
export const METADATA = 6;

/** The cells of a row, in order. */
export interface RowColumns {
  readonly columns: readonly Column[];
  readonly arms: readonly Arm[];
  /**
   * The index of the texts of treatment arms, which follow the metadata and the values of its keys;
   * the seed follows them.
   */
  readonly arm: number;
  /** The index of the time, which the answer follows. */
  readonly time: number;
  /**
   * The number of cells that are held for an answer: itself and, if they are needed, its time
   * before it.
   */
  readonly answerCells: number;
  /** The index of the cell that is `t` if the metadata lack a required key. */
  readonly lacks: number | undefined;
  /**
   * The index of the cell that is the question if it is required, and the number of required
   * questions.
   */
  readonly required: number;
  readonly requiredCount: number;
}

export function rowColumns({
  value = 'response',
  timing = false,
  require_metadata: keys = [],
  require_question: questions = [],
  ...options
}: RowOptions): RowColumns {
  const added = addedColumns(options);
  const before: Column[] = [
    'userid',
    'parent_surveyid',
    'parent_shortcode',
    'surveyid',
    'flowid',
    'question_ref',
    'metadata',
    ...added.columns,
  ];
  const columns: Column[] = [
    ...before,
    'timestamp',
    ANSWERS[value],
    ...(keys.length > 0 ? [lacksMetadata(keys)] : []),
    ...(questions.length > 0 ? [questionAmong(questions)] : []),
  ];
  const time = before.length;
  return {
    columns,
    arms: added.arms,
    arm: METADATA + 1 + added.firstArm,
    time,
    answerCells: timing ? 2 : 1,
    lacks: keys.length > 0 ? time + 2 : undefined,
    required: columns.length - 1,
    requiredCount: questions.length,
  };
}

/**
 * Whether a row of a page and one of this or another page have the same cells `from` to `to`, `to`
 * excluded.
 */
export function haveSameCells(
  { data, cells }: EncodedRows,
  row: number,
  { data: otherData, cells: otherCells }: EncodedRows,
  otherRow: number,
  from: number,
  to: number,
): boolean {
  const start = cells[row + from] as number;
  const end = cells[row + to] as number;
  const offset = (otherCells[otherRow + from] as number) - start;
  if (end + offset !== otherCells[otherRow + to]) return false;
  for (let at = start; at < end - 1; at++) if (data[at] !== otherData[at + offset]) return false;
  return true;
}

const CELL_BYTES = Int32Array.BYTES_PER_ELEMENT;

const utf8 = new TextDecoder();

/** Cells `from` to `to`, `to` excluded, as CSV. */
export function textOf({ data, cells }: EncodedRows, from: number, to: number): string {
  return utf8.decode(data.subarray(cells[from], (cells[to] as number) - 1));
}

/**
 * Copies of cells, as a page that grows: an object for each copy would take ten times the memory of
 * a short answer.
 */
export class CopiedCells implements EncodedRows {
  readonly #output = new Output();
  #length = 0;
  cells = new Int32Array(1);

  get data(): Uint8Array<ArrayBuffer> {
    return this.#output.bytes;
  }

  /** Copies some cells that follow each other. @returns the position of the first */
  add(page: EncodedRows, from: number, count: number): number {
    const start = page.cells[from] as number;
    const end = page.cells[from + count] as number;
    const offset = this.#output.length - start;
    this.#output.reserve(end - start);
    this.#output.write(page.data, start, end);
    const first = this.#length;
    this.#length += count;
    if (this.#length >= this.cells.length) {
      this.cells = new Int32Array(
        this.cells.buffer.transfer(CELL_BYTES * Math.ceil(1.25 * (this.#length + 1))),
      );
    }
    for (let i = 1; i <= count; i++)
      this.cells[first + i] = (page.cells[from + i] as number) + offset;
    return first;
  }

  /** The memory that is allocated, in bytes. */
  get allocated(): number {
    return this.data.length + this.cells.byteLength;
  }

  free(): void {
    free(this.data);
    free(this.cells);
  }
}

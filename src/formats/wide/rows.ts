import { type Column, lacksMetadata, metadataValue, translatedAnswer } from '../../db/responses.ts';
import type { EncodedRows } from '../../encode/rows.ts';

/** What to read of each response. */
export interface RowOptions {
  readonly value?: 'response' | 'translated' | undefined;
  /** Keys of the metadata, each of which becomes a column. */
  readonly metadata?: readonly string[] | undefined;
  /** Keys of the metadata that a response must have. */
  readonly require_metadata?: readonly string[] | undefined;
}

/*
 * The cells of a row. Those of a record's key, form version and flow come first, so that one comparison tells whether a row
 * has the same as the row before it.
 */
export const KEY = 0;
export const PARENT = 1;
export const SURVEYID = 3;
export const FLOWID = 4;
export const QUESTION_REF = 5;
export const TIMESTAMP = 6;
export const METADATA = 7;

/** The cells of a row, in order. */
export interface RowColumns {
  readonly columns: readonly Column[];
  /** The index of the answer, which follows the metadata and the values of its keys. */
  readonly answer: number;
  /** Whether a last cell tells if the metadata lack a required key. */
  readonly hasLacks: boolean;
}

export function rowColumns({ value, metadata = [], require_metadata: required = [] }: RowOptions): RowColumns {
  const columns: Column[] = [
    'userid',
    'parent_surveyid',
    'parent_shortcode',
    'surveyid',
    'flowid',
    'question_ref',
    'timestamp',
    'metadata',
    ...metadata.map(metadataValue),
    value === 'translated' ? translatedAnswer : 'response',
  ];
  const answer = columns.length - 1;
  if (required.length > 0) columns.push(lacksMetadata(required));
  return { columns, answer, hasLacks: required.length > 0 };
}

/** Whether a row of a page and one of this or another page have the same cells `from` to `to`, `to` excluded. */
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

/** With more characters, an integer may not fit a number. */
const SAFE_DIGITS = 15;
const ZERO = '0'.charCodeAt(0);

/** A row's `flowid`, to compare with others. */
export function flowOf(page: EncodedRows, row: number): number | string {
  const { data, cells } = page;
  const start = cells[row + FLOWID] as number;
  const end = (cells[row + FLOWID + 1] as number) - 1;
  if (end - start > SAFE_DIGITS || (data[start] as number) < ZERO) {
    return new TextDecoder().decode(data.subarray(start, end));
  }
  let flow = 0;
  for (let at = start; at < end; at++) flow = 10 * flow + (data[at] as number) - ZERO;
  return flow;
}

/** A copy of cells `from` to `to` of a row, `to` excluded. */
export function copyOf({ data, cells }: EncodedRows, row: number, from: number, to: number): EncodedRows {
  const start = cells[row + from] as number;
  return {
    data: data.slice(start, (cells[row + to] as number) - 1),
    cells: cells.slice(row + from, row + to + 1).map((at) => at - start),
  };
}

import { ANSWERS, type Column, lacksMetadata, questionAmong } from '../../db/responses.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { FileQuery } from '../file-format.ts';
import { addedColumns } from '../long-table.ts';

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

export type RowColumns = ReturnType<typeof rowColumns>;

/** The cells of a row, in order. */
export function rowColumns({
  value = 'response',
  timing: hasTiming = false,
  require_metadata: keys = [],
  require_question: questions = [],
  ...query
}: FileQuery) {
  const { names, columns: added, arms, firstArm } = addedColumns(query);
  const before: Column[] = [
    'userid',
    'parent_surveyid',
    'parent_shortcode',
    'surveyid',
    'flowid',
    'question_ref',
    'metadata',
    ...added,
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
    /** The names of the file's columns of metadata keys and treatment arms. */
    names,
    arms,
    /** The index of the texts of treatment arms, which the seed follows. */
    arm: METADATA + 1 + firstArm,
    /** The index of the time, which the answer follows. */
    time,
    hasTiming,
    /** The index of the cell that is `t` if the metadata lack a required key. */
    lacks: keys.length > 0 ? time + 2 : undefined,
    /** The index of the cell that is the question if it is required. */
    required: columns.length - 1,
    /** The number of required questions. */
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

const utf8 = new TextDecoder();

/** Cells `from` to `to`, `to` excluded, as CSV. */
export function textOf({ data, cells }: EncodedRows, from: number, to: number): string {
  return utf8.decode(data.subarray(cells[from], (cells[to] as number) - 1));
}

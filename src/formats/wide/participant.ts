import { LOWER_T } from '../../encode/ascii.ts';
import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { TIMING_COLUMNS } from '../../responses/wide-columns.ts';
import { writeArms } from '../arm-cells.ts';
import type { FileQuery } from '../file-format.ts';
import { CHUNK_BYTES } from '../long-table.ts';
import type { Form, QuestionColumns } from './columns.ts';
import { NumberCells } from './number-cells.ts';
import {
  FLOWID,
  KEY,
  METADATA,
  PARENT,
  QUESTION_REF,
  type RowColumns,
  SURVEYID,
  haveSameCells,
  textOf,
} from './rows.ts';
import { Timing } from './timing.ts';

/** How records are made of rows. */
export interface WideLayout {
  readonly questions: QuestionColumns;
  readonly row: RowColumns;
  /** Which of several attempts at a form count. */
  readonly repeats?: FileQuery['repeats'];
}

/** A participant's responses in one chain of forms, as positions of rows. */
interface WideRecord {
  readonly first: number;
  last: number;
  /**
   * The `flowid`s of the responses to each form, one for each attempt. With `repeats=drop`, those of all
   * the participant's records.
   */
  readonly flows: Map<Form, Set<string>>;
  /** The largest number of them. */
  attempts: number;
  /** The last answer to each question of a form, in the order of these answers. */
  readonly answers: Map<number, number>;
  /** The number of answers that were replaced. */
  corrections: number;
}

/** Those of the current record. */
const numbers = new NumberCells();
const timing = new Timing();

/**
 * Writes the records of a participant.
 *
 * @param page has the rows of the records
 * @returns chunks of the file, each valid until the next is requested
 */
export function* writeRecords(
  { questions, row }: WideLayout,
  writer: RecordWriter,
  page: EncodedRows,
  records: Iterable<WideRecord>,
) {
  const { arms, arm, time, hasTiming } = row;
  const { output } = writer;

  for (const { first, last, attempts, answers, corrections } of records) {
    writer.cells(page, first + KEY, first + SURVEYID);
    writer.cells(page, last + FLOWID, last + FLOWID + 1);
    writer.cells(page, first + time, first + time + 1);
    writer.cells(page, last + time, last + time + 1);

    numbers.clear().add(attempts);
    if (hasTiming) {
      for (const answer of answers.values()) timing.add(page, answer + time);
      timing.write(numbers, corrections);
    }
    writer.cells(numbers, 0, numbers.count);
    if (hasTiming) writer.skip(1 + TIMING_COLUMNS.length - numbers.count);

    writer.cells(page, last + METADATA, last + arm);
    if (arms.length > 0) writeArms(writer, page, last + arm, arms);

    const byColumn = lastByColumn(answers, questions);
    const columns = [...byColumn.keys()];
    if (columns.length > 1) columns.sort((a, b) => a - b);
    let next = 0;
    for (const column of columns) {
      if (output.length >= CHUNK_BYTES) yield output.take();
      const answer = (byColumn.get(column) as number) + time + 1;
      writer.skip(column - next);
      writer.cells(page, answer, answer + 1);
      next = column + 1;
    }
    writer.skip(questions.names.length - next);
    writer.endRecord();
    if (output.length >= CHUNK_BYTES) yield output.take();
  }
}

/**
 * Makes the records of a participant, in the order of their first responses; none if the participant
 * is left out. Responses to a question without a column are skipped: they were stored after the
 * columns were determined.
 *
 * @param start the participant's first row
 * @returns the records, and the end of the participant's rows
 */
export function recordsAt(
  { questions, row: rowColumns, repeats }: WideLayout,
  page: EncodedRows,
  start: number,
) {
  const { data, cells } = page;
  const { columns, lacks, required, requiredCount } = rowColumns;
  const width = columns.length;
  const records = new Map<string, WideRecord>();
  const allFlows = repeats === 'drop' ? new Map<Form, Set<string>>() : undefined;
  const answered = new Set<string>();
  let isLeftOut = false;
  let form: Form | undefined;
  /** Undefined until a row has the current chain, form version and flow, and a known question. */
  let record: WideRecord | undefined;
  let counts = true;

  let row = start;
  for (; row + width < cells.length; row += width) {
    const previous = row - width;
    if (row === start || !haveSameCells(page, row, page, previous, KEY, QUESTION_REF)) {
      if (row > start && !haveSameCells(page, row, page, previous, KEY, PARENT)) break;
      form = questions.forms.get(page, row + SURVEYID);
      record = undefined;
    }
    const question = form?.get(page, row + QUESTION_REF);
    if (!form || question === undefined || isLeftOut) continue;

    if (!record) {
      const chain = textOf(page, row + PARENT, row + SURVEYID);
      record = records.get(chain) ?? {
        first: row,
        last: row,
        flows: allFlows ?? new Map(),
        attempts: 1,
        answers: new Map(),
        corrections: 0,
      };
      records.set(chain, record);

      const flow = textOf(page, row + FLOWID, row + FLOWID + 1);
      const flows = record.flows.get(form) ?? new Set();
      record.flows.set(form, flows.add(flow));
      record.attempts = Math.max(record.attempts, flows.size);
      if (allFlows && flows.size > 1) isLeftOut = true;
      const [firstFlow] = flows;
      counts = repeats !== 'first' || flow === firstFlow;
    }

    if (lacks !== undefined && data[cells[row + lacks] as number] === LOWER_T) isLeftOut = true;
    if (answered.size < requiredCount) {
      const asked = textOf(page, row + required, row + required + 1);
      if (asked !== '') answered.add(asked);
    }
    if (!counts) continue;

    record.last = row;
    if (record.answers.delete(question)) record.corrections++;
    record.answers.set(question, row);
  }

  const isKept = !isLeftOut && answered.size === requiredCount;
  return { records: isKept ? records.values() : [], end: row };
}

/** The answers by column. Of those of several forms in a column, the last one counts. */
function lastByColumn(
  answers: WideRecord['answers'],
  { columns, names }: QuestionColumns,
): WideRecord['answers'] {
  if (columns.length === names.length) return answers;
  return new Map(Array.from(answers, ([question, row]) => [columns[question] as number, row]));
}

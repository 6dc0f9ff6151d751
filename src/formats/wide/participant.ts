import { LOWER_T } from '../../encode/ascii.ts';
import { hashOf } from '../../encode/byte-map.ts';
import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { TIMING_COLUMNS } from '../../responses/wide-columns.ts';
import { writeArms } from '../arm-cells.ts';
import type { Form, QuestionColumns } from './columns.ts';
import { NumberCells } from './number-cells.ts';
import {
  CopiedCells,
  FLOWID,
  KEY,
  METADATA,
  PARENT,
  type RowColumns,
  SURVEYID,
  haveSameCells,
  textOf,
} from './rows.ts';
import { Timing } from './timing.ts';

/**
 * Which of a participant's attempts at a form count: `drop` leaves out a participant with several.
 */
export type KeptAttempts = 'last' | 'first' | 'drop';

/**
 * The limit for one participant, in bytes: the cells that are held at the end of a page, and the
 * objects that refer to them.
 */
export const MAX_PARTICIPANT_SIZE = 12 * 1024 * 1024;
/**
 * The average sizes of objects in Node, in bytes: a map that grows doubles its size. The Workers
 * runtime has smaller pointers.
 */
const RECORD_SIZE = 330;
const ATTEMPTS_SIZE = 60;
const ATTEMPT_SIZE = 45;
const ANSWER_SIZE = 50;
/**
 * The size of a chunk of the file, in bytes: the overhead of a write is negligible, and a page is
 * much larger.
 */
const CHUNK_BYTES = 128 * 1024;

/** The responses of one participant do not fit in memory. */
export class ParticipantTooLargeError extends Error {
  override name = 'ParticipantTooLargeError';
}

/**
 * The position of a row or an answer: in the cells of the current page, or `~position` in the
 * copied cells.
 */
type CellRef = number;

/** A participant's attempts at a form: the `flowid`s of its responses. */
interface Attempts {
  readonly form: Form;
  readonly first: string;
  others: Set<string> | undefined;
  /** Those at another form. */
  readonly next: Attempts | undefined;
}

/** A record of a wide file: a participant's responses in one chain of forms. */
interface WideRecord {
  /** The record's first row, whose cells up to its key are held, and its time. */
  first: CellRef;
  started: CellRef;
  /** The record's last row, whose cells up to the time are held. */
  last: CellRef;
  attempts: Attempts | undefined;
  /** The last answer to each question of a form, in the order of these answers. */
  readonly answers: Map<number, CellRef>;
  /** The number of answers that were replaced. */
  corrections: number;
  /** Another record whose key has the same hash. */
  readonly next: WideRecord | undefined;
}

/** One participant's responses, as the records of a wide file. */
export class Participant {
  readonly #columns: RowColumns;
  readonly #kept: KeptAttempts;
  /** The participant's first row, whose cells up to the record's key are held. */
  #first: CellRef;
  /** Copies of the cells of earlier pages that are still needed. */
  #copies: CopiedCells | undefined;
  /** The records, in the order of their first responses, and by the hashes of their keys. */
  #records: WideRecord[] = [];
  readonly #byHash = new Map<number, WideRecord>();
  /** With `drop`, the only attempt at each form. */
  readonly #flows = new Map<Form, string>();
  /** The required questions that have been answered. */
  readonly #required = new Set<string>();
  #isLeftOut = false;
  /** What is held at the end of the last page, in bytes. */
  size = 0;
  /** The record of the current row, and whether the current attempt counts. */
  #record: WideRecord | undefined;
  #counts = true;

  constructor(row: number, columns: RowColumns, kept: KeptAttempts) {
    this.#first = row;
    this.#columns = columns;
    this.#kept = kept;
  }

  /** Whether a row is this participant's. */
  has(page: EncodedRows, row: number): boolean {
    return this.#isSame(page, row, this.#first, KEY, PARENT);
  }

  /** Begins a record, a form version or an attempt. @param row its first row */
  enter(page: EncodedRows, row: number, form: Form): void {
    if (this.#isLeftOut) return;
    const flow = textOf(page, row + FLOWID, row + FLOWID + 1);
    const record = this.#recordOf(page, row);
    let { attempts } = record;
    while (attempts && attempts.form !== form) attempts = attempts.next;
    if (!attempts) {
      attempts = { form, first: flow, others: undefined, next: record.attempts };
      record.attempts = attempts;
    } else if (flow !== attempts.first) {
      attempts.others ??= new Set();
      attempts.others.add(flow);
    }
    this.#record = record;
    this.#counts = this.#kept !== 'first' || flow === attempts.first;
    if (this.#kept !== 'drop') return;
    if (!this.#flows.has(form)) this.#flows.set(form, flow);
    else if (this.#flows.get(form) !== flow) this.#leaveOut();
  }

  /**
   * Adds the next response in order, of the record and attempt entered last; it replaces an earlier
   * one to the same question.
   */
  add(page: EncodedRows, row: number, question: number): void {
    const { time, answerCells, lacks, required, requiredCount } = this.#columns;
    if (this.#isLeftOut) return;
    if (lacks !== undefined && page.data[page.cells[row + lacks] as number] === LOWER_T)
      return this.#leaveOut();
    if (this.#required.size < requiredCount) {
      const asked = textOf(page, row + required, row + required + 1);
      if (asked !== '') this.#required.add(asked);
    }
    if (!this.#counts) return;
    const record = this.#record as WideRecord;
    const answer = row + time + 2 - answerCells;
    if (record.answers.delete(question)) record.corrections++;
    record.last = row;
    record.answers.set(question, answer);
  }

  /**
   * Copies what is held, of a page and of those before it, so that their memory can be freed.
   *
   * @throws ParticipantTooLargeError
   */
  detach(page: EncodedRows): void {
    const copies = new CopiedCells();
    const copy = (ref: CellRef, count: number): CellRef =>
      ~copies.add(this.#pageOf(page, ref), positionOf(ref), count);

    let objectBytes = 0;
    this.#first = copy(this.#first, PARENT);
    for (const record of this.#records) {
      record.first = copy(record.first, SURVEYID);
      record.started = copy(record.started, 1);
      record.last = copy(record.last, this.#columns.time + 1);
      for (const [question, ref] of record.answers)
        record.answers.set(question, copy(ref, this.#columns.answerCells));

      objectBytes += RECORD_SIZE + ANSWER_SIZE * record.answers.size;
      for (let at = record.attempts; at; at = at.next)
        objectBytes += ATTEMPTS_SIZE + ATTEMPT_SIZE * (at.others?.size ?? 0);
    }
    this.#copies?.free();
    this.#copies = copies;

    this.size = objectBytes + copies.allocated;
    if (this.size > MAX_PARTICIPANT_SIZE)
      throw new ParticipantTooLargeError('the responses of one participant do not fit in memory');
  }

  /**
   * Writes the records, and frees them. Yields whenever the writer has a chunk to take.
   *
   * @param page the current one
   */
  *write(
    writer: RecordWriter,
    page: EncodedRows,
    questions: QuestionColumns,
  ): Generator<void, void, void> {
    const { arms, arm, time, answerCells, requiredCount } = this.#columns;
    if (this.#required.size < requiredCount) this.#leaveOut();
    for (const { first, started, last, attempts, answers, corrections } of this.#records) {
      this.#write(writer, page, first, KEY, SURVEYID);
      this.#write(writer, page, last, FLOWID, FLOWID + 1);
      this.#write(writer, page, started, 0, 1);
      this.#write(writer, page, last, time, time + 1);
      let most = 1;
      for (let at = attempts; at; at = at.next) most = Math.max(most, 1 + (at.others?.size ?? 0));
      numbers.clear().add(most);
      if (answerCells > 1) this.#addTiming(page, answers, corrections);
      writer.cells(numbers, 0, numbers.count);
      if (answerCells > 1) writer.skip(1 + TIMING_COLUMNS.length - numbers.count);
      this.#write(writer, page, last, METADATA, arm);
      if (arms.length > 0)
        writeArms(writer, this.#pageOf(page, last), positionOf(last) + arm, arms);
      const byColumn = lastByColumn(answers, questions);
      const columns = [...byColumn.keys()];
      if (columns.length > 1) columns.sort((a, b) => a - b);
      let previous = -1;
      for (const column of columns) {
        if (writer.output.length >= CHUNK_BYTES) yield;
        writer.skip(column - previous - 1);
        this.#write(writer, page, byColumn.get(column) as CellRef, answerCells - 1, answerCells);
        previous = column;
      }
      writer.skip(questions.names.length - previous - 1);
      writer.endRecord();
      if (writer.output.length >= CHUNK_BYTES) yield;
    }
    this.#copies?.free();
  }

  /** The answers are in the order of their times. */
  #addTiming(page: EncodedRows, answers: WideRecord['answers'], corrections: number): void {
    for (const ref of answers.values()) {
      const { data, cells } = this.#pageOf(page, ref);
      const time = positionOf(ref);
      timing.add(data, cells[time] as number, (cells[time + 1] as number) - 1);
    }
    timing.write(numbers, corrections);
  }

  #recordOf(page: EncodedRows, row: number): WideRecord {
    const { data, cells } = page;
    const hash = hashOf(data, cells[row + PARENT] as number, cells[row + SURVEYID] as number);
    const next = this.#byHash.get(hash);
    let record = next;
    while (record && !this.#isSame(page, row, record.first, PARENT, SURVEYID)) record = record.next;
    if (record) return record;
    const { time } = this.#columns;
    record = {
      first: row,
      started: row + time,
      last: row,
      attempts: undefined,
      answers: new Map(),
      corrections: 0,
      next,
    };
    this.#byHash.set(hash, record);
    this.#records.push(record);
    return record;
  }

  #leaveOut(): void {
    this.#isLeftOut = true;
    this.#records = [];
    this.#byHash.clear();
  }

  #pageOf(page: EncodedRows, ref: CellRef): EncodedRows {
    return ref >= 0 ? page : (this.#copies as CopiedCells);
  }

  #isSame(page: EncodedRows, row: number, ref: CellRef, from: number, to: number): boolean {
    return haveSameCells(page, row, this.#pageOf(page, ref), positionOf(ref), from, to);
  }

  #write(writer: RecordWriter, page: EncodedRows, ref: CellRef, from: number, to: number): void {
    writer.cells(this.#pageOf(page, ref), positionOf(ref) + from, positionOf(ref) + to);
  }
}

/** The answers by column. Of those of several forms in a column, the last one counts. */
function lastByColumn(
  answers: WideRecord['answers'],
  { columns, names }: QuestionColumns,
): WideRecord['answers'] {
  if (columns.length === names.length) return answers;
  return new Map(Array.from(answers, ([question, ref]) => [columns[question] as number, ref]));
}

/** Those of the current record. */
const numbers = new NumberCells();
const timing = new Timing();

const positionOf = (ref: CellRef) => (ref >= 0 ? ref : ~ref);

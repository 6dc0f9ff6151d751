import { hashOf } from '../../encode/byte-map.ts';
import { type RecordWriter, cellOf } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { Form } from './columns.ts';
import {
  FLOWID,
  KEY,
  METADATA,
  PARENT,
  type RowColumns,
  SURVEYID,
  TIMESTAMP,
  copyOf,
  flowOf,
  haveSameCells,
} from './rows.ts';

/** Which responses of a participant who took a form several times count. */
export type Repeats = 'last' | 'first' | 'drop';

/** The limit for one participant: bytes, plus {@link RECORD_SIZE} per record and {@link ENTRY_SIZE} per answer and flow. */
export const MAX_PARTICIPANT_SIZE = 16 * 1024 * 1024;
/** The approximate size of objects without their bytes. */
const RECORD_SIZE = 1000;
const ENTRY_SIZE = 60;

/** In bytes. Large enough that the overhead of a write is negligible, and small compared to a page. */
const CHUNK_BYTES = 128 * 1024;

/** The responses of one participant do not fit in memory. */
export class ParticipantTooLargeError extends Error {
  override name = 'ParticipantTooLargeError';
}

/** A row of the current page, or a copy of one of an earlier page. */
type RowRef = number | EncodedRows;

/** The flows in which a participant took a form. */
interface Flows {
  readonly form: Form;
  readonly first: number | string;
  /** All of them, if there are several. */
  all: Set<number | string> | undefined;
}

/** A record of a wide file: a participant's responses in one chain of forms. */
interface WideRecord {
  first: RowRef;
  last: RowRef;
  /** The size of `last` without its answer. */
  lastSize: number;
  readonly flows: Flows[];
  /** The last answer to each question, by column; of an earlier page, only the cell. */
  readonly answers: Map<number, RowRef>;
  /** Another record whose key has the same hash. */
  readonly next: WideRecord | undefined;
}

/** One participant's responses, as the records of a wide file. */
export class Participant {
  readonly #columns: RowColumns;
  readonly #repeats: Repeats;
  /** The first row. */
  #first: RowRef;
  /** Records, ordered by their first responses, and by the hashes of their keys. */
  #records: WideRecord[] = [];
  readonly #byHash = new Map<number, WideRecord>();
  /** With `drop`, the only flow of each form. */
  readonly #flows = new Map<Form, number | string>();
  #isLeftOut = false;
  #size = 0;
  /** The record of the current row, and whether the current flow counts. */
  #record: WideRecord | undefined;
  #counts = true;

  constructor(row: number, columns: RowColumns, repeats: Repeats) {
    this.#first = row;
    this.#columns = columns;
    this.#repeats = repeats;
  }

  /** Bytes, approximately: see {@link MAX_PARTICIPANT_SIZE}. */
  get size(): number {
    return this.#size;
  }

  /** Whether a row is this participant's. */
  has(page: EncodedRows, row: number): boolean {
    return isSame(page, row, this.#first, KEY, PARENT);
  }

  /** Begins a record, a form version or a flow. @param row its first row */
  enter(page: EncodedRows, row: number, form: Form): void {
    if (this.#isLeftOut) return;
    const record = this.#recordOf(page, row);
    const flow = flowOf(page, row);
    let flows = record.flows.find((of) => of.form === form);
    if (!flows) {
      flows = { form, first: flow, all: undefined };
      record.flows.push(flows);
    }
    if (flow !== flows.first) {
      flows.all ??= new Set<number | string>().add(flows.first);
      if (!flows.all.has(flow)) this.#size += ENTRY_SIZE;
      flows.all.add(flow);
    }
    this.#record = record;
    this.#counts = this.#repeats !== 'first' || flow === flows.first;
    if (this.#repeats !== 'drop') return;
    if (!this.#flows.has(form)) this.#flows.set(form, flow);
    else if (this.#flows.get(form) !== flow) this.#leaveOut();
  }

  /**
   * Adds the next response in order, of the record and flow entered last; it replaces an earlier one to the same question.
   *
   * @throws ParticipantTooLargeError
   */
  add({ data, cells }: EncodedRows, row: number, column: number): void {
    const { answer, hasLacks } = this.#columns;
    if (this.#isLeftOut) return;
    if (hasLacks && data[cells[row + answer + 1] as number] === TRUE) return this.#leaveOut();
    if (!this.#counts) return;
    const record = this.#record as WideRecord;
    const lastSize = (cells[row + answer] as number) - (cells[row] as number);
    const previous = record.answers.get(column);
    this.#size += lastSize - record.lastSize + answerSize(cells, row, answer);
    if (previous === undefined) this.#size += ENTRY_SIZE;
    else this.#size -= typeof previous === 'number' ? answerSize(cells, previous, answer) : previous.data.length;
    if (this.#size > MAX_PARTICIPANT_SIZE) {
      throw new ParticipantTooLargeError('the responses of one participant do not fit in memory');
    }
    record.last = row;
    record.lastSize = lastSize;
    record.answers.set(column, row);
  }

  /** Copies what is held of a page, so that its memory can be freed. */
  detach(page: EncodedRows): void {
    const { answer } = this.#columns;
    if (typeof this.#first === 'number') this.#first = copyOf(page, this.#first, KEY, answer);
    for (const record of this.#records) {
      if (typeof record.first === 'number') record.first = copyOf(page, record.first, KEY, answer);
      if (typeof record.last === 'number') record.last = copyOf(page, record.last, KEY, answer);
      for (const [column, row] of record.answers) {
        if (typeof row === 'number') record.answers.set(column, copyOf(page, row, answer, answer + 1));
      }
    }
  }

  /**
   * Writes the records. Yields whenever the writer has a chunk to take.
   *
   * @param page the current one
   * @param questions the number of question columns
   */
  *write(writer: RecordWriter, page: EncodedRows, questions: number): Generator<void, void, void> {
    const { answer } = this.#columns;
    for (const { first, last, flows, answers } of this.#records) {
      writeCells(writer, page, first, KEY, SURVEYID);
      writeCells(writer, page, last, FLOWID, FLOWID + 1);
      writeCells(writer, page, first, TIMESTAMP, TIMESTAMP + 1);
      writeCells(writer, page, last, TIMESTAMP, TIMESTAMP + 1);
      const attempts = flows.some(({ all }) => all) ? Math.max(...flows.map(({ all }) => all?.size ?? 1)) : 1;
      writer.cells(attempts === 1 ? ONCE : cellOf(String(attempts)), 0, 1);
      writeCells(writer, page, last, METADATA, answer);
      const columns = [...answers.keys()];
      if (columns.length > 1) columns.sort((a, b) => a - b);
      let previous = -1;
      for (const column of columns) {
        if (writer.length >= CHUNK_BYTES) yield;
        writer.skip(column - previous - 1);
        const row = answers.get(column) as RowRef;
        if (typeof row === 'number') writer.cells(page, row + answer, row + answer + 1);
        else writer.cells(row, 0, 1);
        previous = column;
      }
      writer.skip(questions - previous - 1);
      writer.endRecord();
      if (writer.length >= CHUNK_BYTES) yield;
    }
  }

  #recordOf(page: EncodedRows, row: number): WideRecord {
    const { data, cells } = page;
    const hash = hashOf(data, cells[row + PARENT] as number, cells[row + SURVEYID] as number);
    const next = this.#byHash.get(hash);
    let record = next;
    while (record && !isSame(page, row, record.first, PARENT, SURVEYID)) record = record.next;
    if (record) return record;
    const added: WideRecord = { first: row, last: row, lastSize: 0, flows: [], answers: new Map(), next };
    this.#byHash.set(hash, added);
    this.#records.push(added);
    this.#size += RECORD_SIZE + (cells[row + this.#columns.answer] as number) - (cells[row] as number);
    return added;
  }

  #leaveOut(): void {
    this.#isLeftOut = true;
    this.#records = [];
    this.#byHash.clear();
    this.#size = 0;
  }
}

const TRUE = 't'.charCodeAt(0);
const ONCE = cellOf('1');

const answerSize = (cells: Int32Array, row: number, answer: number) =>
  (cells[row + answer + 1] as number) - (cells[row + answer] as number) - 1;

function isSame(page: EncodedRows, row: number, other: RowRef, from: number, to: number): boolean {
  const isInPage = typeof other === 'number';
  return haveSameCells(page, row, isInPage ? page : other, isInPage ? other : 0, from, to);
}

function writeCells(writer: RecordWriter, page: EncodedRows, row: RowRef, from: number, to: number): void {
  if (typeof row === 'number') writer.cells(page, row + from, row + to);
  else writer.cells(row, from, to);
}

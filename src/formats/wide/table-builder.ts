import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { Form, QuestionColumns } from './columns.ts';
import { Participant, type KeptAttempts } from './participant.ts';
import { KEY, QUESTION_REF, type RowColumns, SURVEYID, haveSameCells } from './rows.ts';

const NO_PAGE: EncodedRows = { data: new Uint8Array(0), cells: new Int32Array(0) };

/**
 * Makes the records of a wide file from responses, which come in the order of participants and then of time. It holds the records
 * of one participant, and one chunk of the file.
 */
export class WideTableBuilder {
  readonly #questions: QuestionColumns;
  readonly #rowColumns: RowColumns;
  readonly #kept: KeptAttempts;
  readonly #writer: RecordWriter;
  /** The participant whose responses are being read, and the one before, whose records have to be written. */
  #participant: Participant | undefined;
  #finished: Participant | undefined;
  /** The first row of the page with the current record, form version and flow; -1 if there is none. */
  #entered = -1;
  #form: Form | undefined;

  constructor(questions: QuestionColumns, rowColumns: RowColumns, kept: KeptAttempts, writer: RecordWriter) {
    this.#questions = questions;
    this.#rowColumns = rowColumns;
    this.#kept = kept;
    this.#writer = writer;
  }

  /**
   * @param page the next responses, as CSV of the row columns. Responses to a question without a column are skipped: they were
   *   stored after the columns were determined
   * @returns the next bytes of the file; each chunk is valid until the next is requested
   * @throws ParticipantTooLargeError
   */
  *add(page: EncodedRows): Generator<Uint8Array, void, void> {
    const width = this.#rowColumns.columns.length;
    this.#entered = -1;
    for (let row = 0; row + width < page.cells.length; row += width) {
      this.#addRow(page, row);
      if (this.#finished) yield* this.#writeFinished(page);
    }
    this.#participant?.detach(page);
  }

  /** The memory that is held besides the page, in bytes: see {@link Participant.size}. */
  get size(): number {
    return (this.#participant?.size ?? 0) + (this.#finished?.size ?? 0);
  }

  /** @returns the last bytes of the file */
  *end(): Generator<Uint8Array, void, void> {
    this.#finished = this.#participant;
    yield* this.#writeFinished(NO_PAGE);
    if (this.#writer.output.length > 0) yield this.#writer.output.take();
  }

  /** Called once per row, for the reason that encode/csv.ts gives. */
  #addRow(page: EncodedRows, row: number): void {
    const { data, cells } = page;
    const isSame = this.#entered >= 0 && haveSameCells(page, row, page, this.#entered, KEY, QUESTION_REF);
    const form = isSame
      ? this.#form
      : this.#questions.forms.get(data, cells[row + SURVEYID] as number, (cells[row + SURVEYID + 1] as number) - 1);
    const question = row + QUESTION_REF;
    const column = form?.get(data, cells[question] as number, (cells[question + 1] as number) - 1);
    if (!form || column === undefined) return;
    if (!isSame) {
      this.#enter(page, row, form);
      this.#entered = row;
      this.#form = form;
    }
    this.#participant?.add(page, row, column);
  }

  #enter(page: EncodedRows, row: number, form: Form): void {
    if (!this.#participant?.has(page, row)) {
      this.#finished = this.#participant;
      this.#participant = new Participant(row, this.#rowColumns, this.#kept);
    }
    this.#participant.enter(page, row, form);
  }

  *#writeFinished(page: EncodedRows): Generator<Uint8Array, void, void> {
    for (const _ of this.#finished?.write(this.#writer, page, this.#questions.names.length) ?? []) {
      yield this.#writer.output.take();
    }
    this.#finished = undefined;
  }
}

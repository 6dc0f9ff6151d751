import type { RecordWriter } from '../../encode/records.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { Form, QuestionColumns } from './columns.ts';
import { Participant, type KeptAttempts } from './participant.ts';
import { KEY, QUESTION_REF, type RowColumns, SURVEYID, haveSameCells } from './rows.ts';

const NO_PAGE: EncodedRows = { data: new Uint8Array(0), cells: new Int32Array(0) };

/**
 * Makes the records of a wide file from responses, which come in the order of participants and then
 * of time. It holds the records of one participant, and one chunk of the file.
 */
export function wideTableBuilder(
  questions: QuestionColumns,
  rowColumns: RowColumns,
  kept: KeptAttempts,
  writer: RecordWriter,
) {
  const { length: width } = rowColumns.columns;
  const { forms } = questions;
  /**
   * The participant whose responses are being read, and the one before, whose records have to be
   * written.
   */
  let participant: Participant | undefined;
  let finished: Participant | undefined;
  /**
   * The first row of the page with the current record, form version and flow; -1 if there is none.
   */
  let entered = -1;
  let form: Form | undefined;

  /** Called once per row, for the reason that encode/csv.ts gives. */
  function addRow(page: EncodedRows, row: number): void {
    const { data, cells } = page;
    const isSame = entered >= 0 && haveSameCells(page, row, page, entered, KEY, QUESTION_REF);
    if (!isSame) {
      form = forms.get(
        data,
        cells[row + SURVEYID] as number,
        (cells[row + SURVEYID + 1] as number) - 1,
      );
      entered = -1;
    }
    const question = row + QUESTION_REF;
    const found = form?.get(data, cells[question] as number, (cells[question + 1] as number) - 1);
    if (!form || found === undefined) return;
    if (entered < 0) {
      if (!participant?.has(page, row)) {
        finished = participant;
        participant = new Participant(row, rowColumns, kept);
      }
      participant.enter(page, row, form);
      entered = row;
    }
    participant?.add(page, row, found);
  }

  function* writeFinished(page: EncodedRows): Generator<Uint8Array, void, void> {
    for (const _ of finished?.write(writer, page, questions) ?? []) yield writer.output.take();
    finished = undefined;
  }

  return {
    /**
     * @param page the next responses, as CSV of the row columns. Responses to a question without a
     * column are skipped: they were
     *   stored after the columns were determined
     * @returns the next bytes of the file; each chunk is valid until the next is requested
     * @throws ParticipantTooLargeError
     */
    *add(page: EncodedRows): Generator<Uint8Array, void, void> {
      entered = -1;
      for (let row = 0; row + width < page.cells.length; row += width) {
        addRow(page, row);
        if (finished) yield* writeFinished(page);
      }
      participant?.detach(page);
    },

    /** The memory that is held besides the page, in bytes: see {@link Participant.size}. */
    get size(): number {
      return (participant?.size ?? 0) + (finished?.size ?? 0);
    },

    /** @returns the last bytes of the file */
    *end(): Generator<Uint8Array, void, void> {
      finished = participant;
      yield* writeFinished(NO_PAGE);
      if (writer.output.length > 0) yield writer.output.take();
    },
  };
}

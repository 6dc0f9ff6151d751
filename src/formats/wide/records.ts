import { concat, free } from '../../encode/bytes.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { namedError } from '../../http/errors.ts';
import type { HoldRecord, WriteRecords } from '../file-format.ts';
import { type WideLayout, writeParticipant } from './participant.ts';
import { KEY, PARENT, haveSameCells } from './rows.ts';

/** The limit for the responses of one participant, in bytes. */
const MAX_PARTICIPANT_BYTES = 12 * 1024 * 1024;

/**
 * Makes the records of a wide table from responses, which come in the order of participants and then
 * of time. Holds the responses of a participant who may have more on the next page.
 */
export const wideRecords = (layout: WideLayout, holdRecord: HoldRecord): WriteRecords =>
  async function* records(writer, pages) {
    const width = layout.row.columns.length;
    let held = noRows();

    /** The end of the rows from `start` on that have the same participant as the row `first`. */
    function endOfParticipant(page: EncodedRows, start: number, of: EncodedRows, first: number) {
      let end = start;
      while (end + width < page.cells.length && haveSameCells(page, end, of, first, KEY, PARENT))
        end += width;
      return end;
    }

    function hold(rows: EncodedRows) {
      free(held.data);
      free(held.cells);
      held = rows;
    }

    function* writeHeld() {
      yield* writeParticipant(layout, writer, held, 0, held.cells.length - 1);
      hold(noRows());
    }

    for await (const page of pages) {
      const length = page.cells.length - 1;
      let start = endOfParticipant(page, 0, held, 0);
      hold(joined(held, page, 0, start));
      if (start < length) yield* writeHeld();

      while (start < length) {
        const end = endOfParticipant(page, start, page, start);
        if (end < length) yield* writeParticipant(layout, writer, page, start, end);
        else hold(joined(held, page, start, end));
        start = end;
      }

      const bytes = held.data.length + held.cells.byteLength;
      await holdRecord(bytes);
      if (bytes > MAX_PARTICIPANT_BYTES)
        throw namedError('ParticipantTooLargeError', 'one participant has too many responses');
    }
    yield* writeHeld();
    if (writer.output.length > 0) yield writer.output.take();
  };

const noRows = (): EncodedRows => ({ data: new Uint8Array(0), cells: new Int32Array(1) });

/** Copies rows, and after them those of a page from `from` to before `to`. */
function joined(
  rows: EncodedRows,
  { data, cells }: EncodedRows,
  from: number,
  to: number,
): EncodedRows {
  const start = cells[from] as number;
  const offset = rows.data.length - start;
  const positions = cells.subarray(from + 1, to + 1).map((position) => position + offset);
  return {
    data: concat(rows.data, data.subarray(start, cells[to])),
    cells: Int32Array.from([...rows.cells, ...positions]),
  };
}

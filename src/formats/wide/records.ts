import { concat, free } from '../../encode/bytes.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import { namedError } from '../../http/errors.ts';
import type { HoldRecord, WriteRecords } from '../file-format.ts';
import { type WideLayout, recordsAt, writeRecords } from './participant.ts';
import { KEY, PARENT, haveSameCells } from './rows.ts';

/** The limit for the responses of one participant, in bytes. */
const MAX_PARTICIPANT_BYTES = 12 * 1024 * 1024;

/**
 * Makes the records of a wide table from responses, which come in the order of participants and then
 * of time. Holds the responses of a participant who may have more on the next page.
 */
export const wideRecords = (layout: WideLayout, holdRecord: HoldRecord): WriteRecords =>
  async function* records(writer, pages) {
    let held = noRows();

    function hold(rows: EncodedRows) {
      free(held.data);
      free(held.cells);
      held = rows;
    }

    function* writeHeld() {
      yield* writeRecords(layout, writer, held, recordsAt(layout, held, 0).records);
      hold(noRows());
    }

    // Apart from the loop below, in which `yield*` would await something for each participant.
    function* writePage(page: EncodedRows) {
      const length = page.cells.length - 1;
      let start = 0;
      if (haveSameCells(page, 0, held, 0, KEY, PARENT)) {
        start = recordsAt(layout, page, 0).end;
        hold(joined(held, page, 0, start));
      }
      if (start < length) yield* writeHeld();

      while (start < length) {
        const { records: some, end } = recordsAt(layout, page, start);
        if (end < length) yield* writeRecords(layout, writer, page, some);
        else hold(joined(held, page, start, end));
        start = end;
      }
    }

    for await (const page of pages) {
      yield* writePage(page);

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

import { isUtf8 } from 'node:buffer';
import { csvCell } from '../../src/encode/csv-cell.ts';
import { cellsOf, createRecordEnds } from '../../site/shared/csv.ts';
import { Mismatch, expectThat } from './expect.ts';

/**
 * Reads a CSV file without keeping it in memory.
 *
 * @param columns the number of cells of every record; by default, of the first
 * @returns the cells of each record: null for an empty cell without quotes
 * @throws Mismatch if it is not UTF-8, if a record has a different number of cells or is not quoted as the service quotes, or if
 *   it ends within a record
 */
export async function* csvRecords(
  chunks: AsyncIterable<Buffer>,
  columns = 0,
): AsyncGenerator<(string | null)[], void, void> {
  const endsIn = createRecordEnds();
  let pieces: Buffer[] = [];
  let number = 1;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    const ends = endsIn(chunk);
    if (ends.length === 0) continue;
    const bytes = Buffer.concat(pieces);
    const before = bytes.length - chunk.length;
    pieces = [chunk.subarray(ends.at(-1))];
    expectThat(isUtf8(bytes.subarray(0, before + (ends.at(-1) ?? 0))), 'the CSV file is not UTF-8');
    let start = 0;
    for (const end of ends) {
      const record = bytes.toString('utf8', start, (start = before + end));
      const cells = cellsOf(record);
      columns ||= cells.length;
      if (cells.length !== columns || csvRecord(cells) !== record)
        throw new Mismatch(`record ${number} of the CSV file has not ${columns} cells, or wrong quotes`);
      yield cells;
      number++;
    }
  }
  if (pieces.some(({ length }) => length > 0)) throw new Mismatch(`the CSV file ends within record ${number}`);
}

const csvRecord = (cells: readonly (string | null)[]) =>
  `${cells.map((cell) => (cell === null ? '' : csvCell(cell))).join(',')}\n`;

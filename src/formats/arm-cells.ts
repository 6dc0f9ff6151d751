import { integerAt } from '../encode/bytes.ts';
import type { RecordWriter } from '../encode/records.ts';
import type { EncodedRows } from '../encode/rows.ts';
import { type Arm, armOf } from '../responses/arm.ts';
import { NumberCells } from './wide/number-cells.ts';

const number = new NumberCells();

/**
 * Writes the cells of treatment arms. An arm is the text in the metadata; if there is none, it is
 * computed from the seed.
 *
 * @param first the position of the first arm's text in a row; the seed follows the last one's
 */
export function writeArms(
  writer: RecordWriter,
  page: EncodedRows,
  first: number,
  arms: readonly Arm[],
): void {
  const { data, cells } = page;
  const start = cells[first + arms.length] as number;
  const end = (cells[first + arms.length + 1] as number) - 1;
  const seed = start < end ? integerAt(data, start, end) : undefined;

  for (const [i, arm] of arms.entries()) {
    const cell = first + i;
    const isEmpty = (cells[cell + 1] as number) - (cells[cell] as number) === 1;
    if (isEmpty && seed !== undefined) writer.cells(number.clear().add(armOf(arm, seed)), 0, 1);
    else writer.cells(page, cell, cell + 1);
  }
}

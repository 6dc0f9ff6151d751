import { integerAt } from '../encode/bytes.ts';
import type { EncodeRows } from '../encode/rows.ts';
import { type Arm, armOf } from '../responses/arm.ts';

/** Where the cells of treatment arms are: for each arm two that follow each other, its text in the metadata and the seed. */
export interface ArmCells {
  readonly arms: readonly Arm[];
  /** The index of the first of them in a row. */
  readonly first: number;
}

/**
 * Makes one cell of the two of each arm: the text, or if there is a seed, the arm that it leads to. No arm is longer than a seed, so
 * this is done in place.
 *
 * @param encode writes CSV, with the positions of cells
 * @param columns the number of a row's cells
 */
export function encodeArms(encode: EncodeRows, columns: number, { arms, first }: ArmCells): EncodeRows {
  return (bytes, start) => {
    const page = encode(bytes, start);
    const { data, cells } = page;
    let write = 0;
    let written = 0;
    const copy = (from: number, to: number) => {
      data.copyWithin(write, from, to);
      write += to - from;
    };
    for (let row = 0; row + columns < cells.length; row += columns) {
      const firstArm = row + first;
      const rest = firstArm + 2 * arms.length;
      for (let cell = row; cell < row + columns;) {
        const from = cells[cell] as number;
        cells[written++] = write;
        if (cell < firstArm || cell >= rest) {
          copy(from, cells[++cell] as number);
          continue;
        }
        const seed = cells[cell + 1] as number;
        const end = (cells[cell + 2] as number) - 1;
        if (seed === end) {
          copy(from, seed - 1);
        } else {
          const number = armOf(arms[(cell - firstArm) / 2] as Arm, integerAt(data, seed, end));
          for (const digit of String(number)) data[write++] = digit.charCodeAt(0);
        }
        data[write++] = data[end] as number;
        cell += 2;
      }
    }
    if (page.rowCount > 0) cells[written++] = write;
    return { ...page, data: data.subarray(0, write), cells: cells.subarray(0, written) };
  };
}

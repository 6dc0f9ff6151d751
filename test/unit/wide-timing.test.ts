import { expect, test } from 'vitest';
import { recordOf } from '../../src/encode/records.ts';
import { NumberCells } from '../../src/formats/wide/number-cells.ts';
import { Timing } from '../../src/formats/wide/timing.ts';

test.each<[times: string, corrections: number, cells: string]>([
  [
    '2023-12-31T23:59:59.999Z 2025-03-01T00:00:00.000Z',
    0,
    `2,0,${'36720000.001,'.repeat(5).slice(0, -1)}`,
  ],
  [
    '0001-01-01T00:00:00.000001Z 9999-12-31T23:59:59.999999Z',
    0,
    `2,0,${'315537897599.999998,'.repeat(5).slice(0, -1)}`,
  ],
])('the timing of answers at %s is exact', (times, corrections, expected) => {
  const found = new NumberCells();
  const timing = new Timing();
  const cells = times.split(' ');
  for (const i of cells.keys()) timing.add(recordOf(cells), i);
  timing.write(found, corrections);
  expect(String.fromCharCode(...found.data.subarray(0, found.cells[found.count]))).toBe(
    `${expected},`,
  );
});

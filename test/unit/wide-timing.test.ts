import { expect, test } from 'vitest';
import { timingCells } from '../../src/formats/wide/timing.ts';

test.each<[times: bigint[], corrections: number, cells: string[]]>([
  [[5n], 2, ['1', '2', '0']],
  [[0n, 120_000_000n], 0, ['2', '0', '120', '120', '120', '120', '120']],
  [[3n, 0n, 1n], 0, ['3', '0', '0.000003', '0.000001', '0.000002', '0.000002', '0.000002']],
  [[0n, 1n, 11n, 111n, 1111n], 1, ['5', '1', '0.001111', '0.000001', '0.000055', '0.000325', '0.00073']],
  // From the year 1 to 9999, to the microsecond.
  [
    [-62_135_596_800_000_001n, 253_402_300_799_999_999n],
    0,
    ['2', '0', '315537897600', '315537897600', '315537897600', '315537897600', '315537897600'],
  ],
])('the timing of answers at %j is exact', (times, corrections, cells) => {
  expect(timingCells(times, corrections)).toEqual(cells);
});

import { expect, test } from 'vitest';
import { recordOf } from '../../src/encode/records.ts';
import { NumberCells } from '../../src/formats/wide/number-cells.ts';
import { Timing } from '../../src/formats/wide/timing.ts';

test('the timing of answers is exact over all years', () => {
  const found = new NumberCells();
  const timing = new Timing();
  const times = ['0001-01-01T00:00:00.000001Z', '9999-12-31T23:59:59.999999Z'];
  for (const i of times.keys()) timing.add(recordOf(times), i);
  timing.write(found, 0);
  expect(String.fromCharCode(...found.data.subarray(0, found.cells[found.count]))).toBe(
    `2,0,${'315537897599.999998,'.repeat(5)}`,
  );
});

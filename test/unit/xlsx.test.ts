import { expect, test } from 'vitest';
import { ApiError } from '../../src/http/errors.ts';
import { MAX_ROWS, SheetWriter } from '../../src/formats/xlsx/sheet.ts';

test('a worksheet has up to 1,048,576 rows', () => {
  const sheet = new SheetWriter();
  for (let rows = 0; rows < MAX_ROWS; rows += 1024) {
    for (let i = 0; i < 1024; i++) sheet.endRecord();
    sheet.output.take();
  }
  expect(() => sheet.endRecord()).toThrow(ApiError);
});

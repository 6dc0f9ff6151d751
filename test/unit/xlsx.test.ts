import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_ROWS, SheetLimitError, SheetWriter } from '../../src/formats/xlsx/sheet.ts';
import { pgText } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';
import { readRows } from '../support/xlsx.ts';

type Text = string | null;

const utf8 = new TextEncoder();

function write(sheet: SheetWriter, text: Text): void {
  const data = utf8.encode(`x,${naiveCsv([[text]])}`); // not at the start of its memory
  sheet.cells({ data, cells: Int32Array.of(0, 2, data.length) }, 1, 2);
}

function xmlOf(rows: readonly (readonly Text[])[]): string {
  const sheet = new SheetWriter();
  for (const row of rows) {
    for (const text of row) write(sheet, text);
    sheet.endRecord();
  }
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(sheet.output.take());
}

test('a worksheet has the texts of its cells, in markup that programs read', () => {
  const escape = fc.constantFrom(
    '_x0041_',
    '_x0041',
    '_x005F_',
    '\ufffe',
    '\u2003',
    '&',
    '=1',
    '\u0001',
  );
  const cell = fc.option(
    fc.array(fc.oneof(escape, pgText), { maxLength: 4 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 4 })), (rows) => {
      const texts = rows.map((row) => row.map((text) => text || null));
      const expected = texts.map((row) =>
        row.slice(0, row.findLastIndex((text) => text !== null) + 1),
      );
      expect(readRows(xmlOf(rows))).toEqual(expected);
    }),
  );
});

test('a worksheet has up to 1,048,576 rows', () => {
  const sheet = new SheetWriter();
  for (let rows = 0; rows < MAX_ROWS; rows += 1024) {
    for (let i = 0; i < 1024; i++) sheet.endRecord();
    sheet.output.take();
  }
  expect(() => sheet.endRecord()).toThrow(SheetLimitError);
});

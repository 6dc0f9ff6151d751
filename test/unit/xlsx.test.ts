import { describe, expect, test } from 'vitest';
import { MAX_CELL_LENGTH, MAX_ROWS, SheetLimitError, SheetWriter } from '../../src/formats/xlsx/sheet.ts';
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

/** A worksheet with one cell, in the second row. */
const secondRow = (cell: string) => `<row r="1"></row><row r="2"><c r="A2" ${cell}</c></row>`;

describe('a cell', () => {
  test.each<[string, string, string]>([
    ['plain text', 'né 🎉', 'né 🎉'],
    ['a formula', '=1+1', '=1+1'],
    ['leading zeros', '0012', '0012'],
    ['quotes', 'say "hi", he said', 'say "hi", he said'],
    ['markup', '<a> ]]>', '&lt;a&gt; ]]&gt;'],
    ['a tab and a line feed', 'a\tb\nc', 'a\tb\nc'],
    ['a carriage return', 'a\rb\r\nc', 'a&#13;b&#13;\nc'],
    ['part of an escape', '_x004_ _x00G1_ x0041_ _x0041', '_x004_ _x00G1_ x0041_ _x0041'],
    ['other characters of U+F000 to U+FFFF', '\uf000\ufeff\ufffd', '\uf000\ufeff\ufffd'],
  ])('holds %s as a text', (_, text, xml) => {
    expect(xmlOf([[], [text]])).toBe(secondRow(`t="str"><v>${xml}</v>`));
  });

  test.each<[string, string, string]>([
    ['a space at its start', ' a', ' a'],
    ['a line feed at its end', 'a\n', 'a\n'],
    ['a carriage return at its start', '\ra', '&#13;a'],
    ['only a space', ' ', ' '],
    ['a line separator at its start', '\u2028a', '\u2028a'],
    ['an em space at its end', 'a\u2003', 'a\u2003'],
  ])('holds %s as a text that keeps white space', (_, text, xml) => {
    expect(xmlOf([[], [text]])).toBe(secondRow(`t="str"><v xml:space="preserve">${xml}</v>`));
  });

  test.each<[string, string, string]>([
    ['an ampersand', 'a & b &lt;', 'a &amp; b &amp;lt;'],
    ['control characters', 'a\u0001\u001f"\rb', 'a_x0001__x001F_"&#13;b'],
    ['U+FFFE and U+FFFF', 'a\ufffe\uffff', 'a_xFFFE__xFFFF_'],
    [
      'the beginning of an escape before an escape',
      '_x0041\u0001_x0041\uffff',
      '_x005F_x0041_x0001__x005F_x0041_xFFFF_',
    ],
    ['an escape', 'a_x0041_x00eF_', 'a_x005F_x0041_x005F_x00eF_'],
  ])('holds %s as an inline string', (_, text, xml) => {
    expect(xmlOf([[], [text]])).toBe(secondRow(`t="inlineStr"><is><t>${xml}</t></is>`));
  });

  test('holds all of these as an inline string that keeps white space', () => {
    const xml = '<is><t xml:space="preserve"> _x0001__x005F_x0041_&amp;&#13;</t></is>';
    expect(xmlOf([[], [' \u0001_x0041_&\r']])).toBe(secondRow(`t="inlineStr">${xml}`));
  });
});

test('the cells of the first row are bold', () => {
  const names = '<c r="A1" s="1" t="str"><v>a</v></c><c r="B1" s="1" t="inlineStr"><is><t>&amp;</t></is></c>';
  expect(xmlOf([['a', '&']])).toBe(`<row r="1">${names}</row>`);
});

test('nulls and empty texts have no element', () => {
  const cell = (position: string, text: string) => `<c r="${position}" t="str"><v>${text}</v></c>`;
  const rows = ['', cell('C2', 'a'), '', cell('A4', 'b')].map((cells, i) => `<row r="${i + 1}">${cells}</row>`);
  expect(xmlOf([[], [null, '', 'a', null], ['', null], ['b']])).toBe(rows.join(''));
});

test('every row and cell has its position', () => {
  const sheet = new SheetWriter();
  const columns = 16_384;
  for (let column = 0; column < columns; column++) write(sheet, 'a');
  sheet.endRecord();
  const [, ...found] = [...new TextDecoder().decode(sheet.output.take()).matchAll(/ r="([^"]*)"/g)].map(([, r]) => r);
  const nameOf = (column: number): string =>
    (column < 26 ? '' : nameOf(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));
  expect(found).toEqual(Array.from({ length: columns }, (_, column) => `${nameOf(column)}1`));
  expect(found.at(-1)).toBe('XFD1');

  const rows = Array.from({ length: 1100 }, (_, i) => [String(i)]);
  expect(readRows(xmlOf(rows))).toEqual(rows);
});

test('cells can be skipped, and bytes taken, at any time', () => {
  const sheet = new SheetWriter();
  const first = '<row r="1"><c r="C1" s="1" t="str"><v>a</v></c>';
  sheet.skip(2);
  write(sheet, 'a');
  expect(sheet.output.length).toBe(first.length);
  expect(sheet.output.take()).toHaveLength(first.length);
  sheet.skip(1);
  write(sheet, 'b');
  sheet.skip(1);
  sheet.endRecord();
  expect(new TextDecoder().decode(sheet.output.take())).toBe('<c r="E1" s="1" t="str"><v>b</v></c></row>');
});

describe('the limits of a worksheet', () => {
  test.each([
    ['of one byte', 'a'],
    ['of three bytes', '漢'],
    ['that CSV doubles', '"'],
    ['that are escaped', '\u0001'],
  ])('allow a cell of 32,767 characters %s, and none of more', (_, char) => {
    const longest = char.repeat(MAX_CELL_LENGTH);
    expect(readRows(xmlOf([[longest]]))).toEqual([[longest]]);
    expect(() => xmlOf([[`${longest}a`]])).toThrow(SheetLimitError);
  });

  test('count characters outside the Basic Multilingual Plane twice', () => {
    const longest = `${'🎉'.repeat(16_383)}a`;
    expect(readRows(xmlOf([[longest]]))).toEqual([[longest]]);
    expect(() => xmlOf([['🎉'.repeat(16_384)]])).toThrow(SheetLimitError);
  });

  test('allow 1,048,576 rows', () => {
    const sheet = new SheetWriter();
    for (let row = 0; row < MAX_ROWS; row++) {
      sheet.endRecord();
      sheet.output.take();
    }
    expect(() => sheet.endRecord()).toThrow(SheetLimitError);
  });
});

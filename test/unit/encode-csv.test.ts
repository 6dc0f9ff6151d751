import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvEncoder } from '../../src/encode/csv.ts';
import { MalformedRowsError } from '../../src/encode/rows.ts';
import { pgCell } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';
import { encodeJson, escapedRowsJson, rowsJson } from '../support/rows-json.ts';

const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const encode = (json: string, columns: number, keyColumns: number[] = []) =>
  encodeJson(csvEncoder({ columns, keyColumns }), json);

const rowsOf = (columns: number) =>
  fc.array(fc.array(pgCell, { minLength: columns, maxLength: columns }), { minLength: 1 });
const anyRows = fc.integer({ min: 1, max: 15 }).chain(rowsOf);

describe('the dialect', () => {
  test('does not depend on how the JSON was escaped', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const columns = rows[0]?.length ?? 1;
        expect(textOf(encode(escapedRowsJson(rows), columns).data)).toBe(naiveCsv(rows));
      }),
    );
  });

  test('replaces a lone surrogate, which UTF-8 cannot encode', () => {
    const json = String.raw`[["a\ud83db","\udf89","\ud83d\ud83c\udf89","1"]]`;
    expect(textOf(encode(json, 3).data)).toBe('a\ufffdb,\ufffd,\ufffd🎉\n');
  });
});

describe('a page', () => {
  test('is rejected if a row has another number of columns', () => {
    expect(() => encode(rowsJson([['a']]), 2)).toThrow(MalformedRowsError);
    expect(() => encode(rowsJson([['a', 'b'], ['c']]), 2)).toThrow(MalformedRowsError);
  });

  test('returns the last record’s key, and the text of its last cell, which is not written', () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(rowsOf(5), keys, (rows, keyColumns) => {
        const page = encode(rowsJson(rows), 5, keyColumns);
        const last = rows.at(-1);
        expect(textOf(page.data)).toBe(naiveCsv(rows));
        expect(page.rowCount).toBe(rows.length);
        expect(page.lastKey).toEqual(keyColumns.map((column) => last?.[column]));
        expect(page.check).toBe(`${rows.length} check`);
      }),
    );
  });

  test('is rejected if truncated, at any byte', () => {
    const rows = [
      ['a', null, 'é"\n\u0001'],
      ['', 'b', '🎉'],
    ];
    const whole = new TextEncoder().encode(rowsJson(rows).slice(0, -1));
    const encodeBytes = csvEncoder({ columns: 3, keyColumns: [] });
    for (let end = 0; end < whole.length; end++) {
      expect(() => encodeBytes(whole.slice(0, end), 0), `truncated at ${end}`).toThrow(MalformedRowsError);
    }
    expect(() => encodeBytes(whole, 0)).not.toThrow();
  });

  test.each([
    ['no rows, since every result has one', '[]'],
    ['a number for a cell', '[[1]]'],
    ['rows as objects', '[{"a":"b"}]'],
    ['a raw control character', '[["a\nb"]]'],
    ['a bad escape', String.raw`[["\x41"]]`],
    ['a bad \\u escape', String.raw`[["\u00g0"]]`],
    ['HTML', '<html>'],
  ])('is rejected with %s', (_, json) => {
    expect(() => encode(`${json.replace(/\]\]$/, ',"1"]]')}}`, 1)).toThrow(MalformedRowsError);
  });
});

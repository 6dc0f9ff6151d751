import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeCsv } from '../../src/encode/csv.ts';
import { MalformedPageError } from '../../src/encode/page.ts';
import { pgCell } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';
import { LAST_COLUMN, escapedSqlResult, sqlResult } from '../support/sql-result.ts';

type Rows = (string | null)[][];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const encode = (body: string | Uint8Array<ArrayBuffer>, columns: number, keyColumns: number[] = [], checked = false) =>
  encodeCsv(typeof body === 'string' ? bytesOf(body) : body, { columns, keyColumns, checked }, LAST_COLUMN);
const csvOf = (rows: Rows) => textOf(encode(sqlResult(rows), rows[0]?.length ?? 1).data);

const rowsOf = (columns: number) => fc.array(fc.array(pgCell, { minLength: columns, maxLength: columns }));
const anyRows = fc.integer({ min: 1, max: 15 }).chain(rowsOf);

describe('the dialect', () => {
  test.each<[string, string | null, string]>([
    ['leaves plain text alone', 'plain text', 'plain text'],
    ['writes nothing for a null', null, ''],
    ['quotes the empty string', '', '""'],
    ['quotes a comma', 'a,b', '"a,b"'],
    ['quotes and doubles a quote', 'say "hi"', '"say ""hi"""'],
    ['quotes a line feed', 'a\nb', '"a\nb"'],
    ['quotes a lone carriage return', 'a\rb', '"a\rb"'],
    ['leaves a tab alone', 'a\tb', 'a\tb'],
    ['leaves leading and trailing spaces alone', ' a ', ' a '],
    ['leaves backslashes alone', 'a\\b\\.', 'a\\b\\.'],
    ['leaves control characters alone', 'a\u0001\b\fb', 'a\u0001\b\fb'],
    ['keeps a byte order mark', '\ufeffa', '\ufeffa'],
    ['keeps characters of four bytes', '🎉', '🎉'],
  ])('%s', (_, cell, expected) => {
    expect(csvOf([[cell, 'x']])).toBe(`${expected},x\n`);
  });

  test('equals that of a naive encoder, for any rows', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        expect(csvOf(rows)).toBe(naiveCsv(rows));
      }),
    );
  });

  test('does not depend on how the JSON was escaped', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const columns = rows[0]?.length ?? 1;
        expect(textOf(encode(escapedSqlResult(rows), columns).data)).toBe(naiveCsv(rows));
      }),
    );
  });

  test('replaces a lone surrogate, which UTF-8 cannot encode', () => {
    const rows = String.raw`"rows":[["a\ud83db","\udf89","\ud83d\ud83c\udf89"]],"rowCount":1`;
    const body = `{"fields":${JSON.stringify([{ name: LAST_COLUMN }])},${rows}}`;
    expect(textOf(encode(body, 3).data)).toBe('a\ufffdb,\ufffd,\ufffd🎉\n');
  });

  test('has no limit on the size of a cell', () => {
    const long = 'x,"y"\n'.repeat(200_000);
    expect(csvOf([[long], ['z']])).toBe(naiveCsv([[long], ['z']]));
  });
});

describe('a page', () => {
  test('without rows has no records', () => {
    const page = encode(sqlResult([]), 1, [0]);
    expect(page).toMatchObject({ rowCount: 0, lastKey: [] });
    expect(page.data).toHaveLength(0);
  });

  test('is rejected if it has another number of columns, with and without rows', () => {
    const read = (rows: Rows, columns: number) => encode(sqlResult(rows), columns);
    expect(() => read([], 1)).not.toThrow();
    expect(() => read([], 2)).toThrow(MalformedPageError);
    expect(() => read([['a']], 2)).toThrow(MalformedPageError);
    expect(() => read([['a', 'b'], ['c']], 2)).toThrow(MalformedPageError);
  });

  test('returns the last record’s key', () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(rowsOf(5), keys, (rows, keyColumns) => {
        const page = encode(sqlResult(rows, 5), 5, keyColumns);
        const last = rows.at(-1);
        expect(page.rowCount).toBe(rows.length);
        expect(page.lastKey).toEqual(last ? keyColumns.map((column) => last[column]) : []);
      }),
    );
  });

  test('has a check column, which is not encoded, if its query has one', () => {
    fc.assert(
      fc.property(rowsOf(3), (rows) => {
        const checkedRows = rows.map((row) => [...row, `${LAST_COLUMN} ${rows.length}`]);
        const page = encode(sqlResult(checkedRows, 4), 3, [2, 0], true);
        const last = rows.at(-1);
        expect(textOf(page.data)).toBe(naiveCsv(rows));
        expect(page.lastKey).toEqual(last ? [last[2], last[0]] : []);
      }),
    );
  });

  test.each([
    ['another name', 'other 2'],
    ['another number of rows', `${LAST_COLUMN} 3`],
    ['null', null],
  ])('is rejected if its check column holds %s', (_, check) => {
    const rows = [
      ['a', check],
      ['b', check],
    ];
    expect(() => encode(sqlResult(rows), 1, [], true)).toThrow(MalformedPageError);
  });

  test('may have its members in any order', () => {
    const rows = [['a', null]];
    const name = LAST_COLUMN;
    const orders = [
      { rows, rowCount: 1, fields: [{ name }] },
      { fields: [{ x: [1, { y: ']}"\\' }], name }], rowCount: 1, rows },
      { rowAsArray: true, rowCount: 1, rows, fields: [{ name }], command: 'SELECT' },
    ];
    for (const body of orders) expect(textOf(encode(JSON.stringify(body), 2).data)).toBe('a,\n');
  });

  test('is rejected if truncated, at any byte', () => {
    const whole = bytesOf(
      sqlResult([
        ['a', null, 'é"\n\u0001'],
        ['', 'b', '🎉'],
      ]),
    );
    for (let end = 0; end < whole.length; end++) {
      expect(() => encode(whole.slice(0, end), 3), `truncated at ${end}`).toThrow(MalformedPageError);
    }
    expect(() => encode(whole, 3)).not.toThrow();
  });

  test.each([
    ['fewer rows than its rowCount', '"rows":[["a"]],"rowCount":2}'],
    ['no rowCount', '"rows":[["a"]]}'],
    ['no rows', '"rowCount":0}'],
    ['a number for a cell', '"rows":[[1]],"rowCount":1}'],
    ['rows as objects', '"rows":[{"a":"b"}],"rowCount":1}'],
    ['a raw control character', '"rows":[["a\nb"]],"rowCount":1}'],
    ['a bad escape', String.raw`"rows":[["\x41"]],"rowCount":1}`],
    ['a bad \\u escape', String.raw`"rows":[["\u00g0"]],"rowCount":1}`],
    ['bytes after its end', '"rows":[],"rowCount":0}{}'],
  ])('is rejected with %s', (_, members) => {
    const fields = `"fields":${JSON.stringify([{ name: LAST_COLUMN }])}`;
    expect(() => encode(`{${fields},${members}`, 1)).toThrow(MalformedPageError);
  });

  test.each([
    ['the name of another request', sqlResult([['a']]).replace('"name":"a', '"name":"b')],
    ['no fields', '{"rows":[["a"]],"rowCount":1}'],
    ['HTML in its place', '<html>'],
  ])('is rejected with %s', (_, body) => {
    expect(() => encode(body, 1)).toThrow(MalformedPageError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { transcodeToCsv } from '../../src/encode/csv.ts';
import { MalformedPageError } from '../../src/encode/malformed-page.ts';
import { pgCell } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';
import { escapedSqlAnswer, sqlAnswer } from '../support/sql-answer.ts';

type Rows = (string | null)[][];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const csvOf = (rows: Rows) => textOf(transcodeToCsv(bytesOf(sqlAnswer(rows))).csv);

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
    ['leaves spaces at the ends alone', ' a ', ' a '],
    ['leaves backslashes alone', 'a\\b\\.', 'a\\b\\.'],
    ['leaves control characters alone', 'a\u0001\b\fb', 'a\u0001\b\fb'],
    ['keeps a byte order mark', '\ufeffa', '\ufeffa'],
    ['keeps characters of four bytes', '🎉', '🎉'],
  ])('%s', (_, cell, expected) => {
    expect(csvOf([[cell, 'x']])).toBe(`${expected},x\n`);
  });

  test('writes the same as a naive encoder, whatever the rows', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        expect(csvOf(rows)).toBe(naiveCsv(rows));
      }),
    );
  });

  test('understands every JSON escape', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        expect(textOf(transcodeToCsv(bytesOf(escapedSqlAnswer(rows))).csv)).toBe(naiveCsv(rows));
      }),
    );
  });

  test('replaces half a surrogate pair, which UTF-8 cannot hold', () => {
    const body = bytesOf(String.raw`{"rows":[["a\ud83db","\udf89","\ud83d\ud83c\udf89"]],"rowCount":1}`);
    expect(textOf(transcodeToCsv(body).csv)).toBe('a\ufffdb,\ufffd,\ufffd🎉\n');
  });

  test('copes with a cell of a million characters', () => {
    const long = 'x,"y"\n'.repeat(200_000);
    expect(csvOf([[long], ['z']])).toBe(naiveCsv([[long], ['z']]));
  });
});

describe('the page', () => {
  test('has no records for no rows', () => {
    const page = transcodeToCsv(bytesOf(sqlAnswer([])), [0]);
    expect(page).toMatchObject({ rowCount: 0, lastKey: [] });
    expect(page.csv).toHaveLength(0);
  });

  test('is no page of other columns, with or without rows', () => {
    const read = (rows: Rows, columns: number) => transcodeToCsv(bytesOf(sqlAnswer(rows)), [], columns);
    expect(() => read([], 1)).not.toThrow();
    expect(() => read([], 2)).toThrow(MalformedPageError);
    expect(() => read([['a']], 2)).toThrow(MalformedPageError);
  });

  test('gives back the last record’s key, exactly', () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(rowsOf(5), keys, (rows, keyColumns) => {
        const page = transcodeToCsv(bytesOf(sqlAnswer(rows)), keyColumns);
        const last = rows.at(-1);
        expect(page.rowCount).toBe(rows.length);
        expect(page.lastKey).toEqual(last ? keyColumns.map((column) => last[column]) : []);
      }),
    );
  });

  test('finds the rows wherever they stand in the answer', () => {
    const rows = [['a', null]];
    const orders = [
      { rows, rowCount: 1, fields: [] },
      { fields: [{ x: [1, { y: ']}"\\' }] }], rowCount: 1, rows },
      { rowAsArray: true, rowCount: 1, rows, command: 'SELECT' },
    ];
    for (const body of orders) expect(textOf(transcodeToCsv(bytesOf(JSON.stringify(body))).csv)).toBe('a,\n');
  });

  test('refuses a body that is cut off, at whatever byte', () => {
    const whole = bytesOf(
      sqlAnswer([
        ['a', null, 'é"\n\u0001'],
        ['', 'b', '🎉'],
      ]),
    );
    for (let end = 0; end < whole.length; end++) {
      expect(() => transcodeToCsv(whole.slice(0, end)), `cut at ${end}`).toThrow(MalformedPageError);
    }
    expect(() => transcodeToCsv(whole)).not.toThrow();
  });

  test.each([
    ['fewer rows than it says', '{"rows":[["a"]],"rowCount":2}'],
    ['no count of rows', '{"rows":[["a"]]}'],
    ['no rows', '{"rowCount":0}'],
    ['a number for a cell', '{"rows":[[1]],"rowCount":1}'],
    ['rows as objects', '{"rows":[{"a":"b"}],"rowCount":1}'],
    ['a raw control character', '{"rows":[["a\nb"]],"rowCount":1}'],
    ['a bad escape', String.raw`{"rows":[["\x41"]],"rowCount":1}`],
    ['a bad \\u escape', String.raw`{"rows":[["\u00g0"]],"rowCount":1}`],
    ['something behind its end', '{"rows":[],"rowCount":0}{}'],
    ['HTML', '<html>'],
  ])('refuses a body with %s', (_, body) => {
    expect(() => transcodeToCsv(bytesOf(body))).toThrow(MalformedPageError);
  });
});

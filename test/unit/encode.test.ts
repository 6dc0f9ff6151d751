import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvEncoder } from '../../src/encode/csv.ts';
import { type ObjectLayout, objectEncoder } from '../../src/encode/json.ts';
import type { EncodeRows } from '../../src/encode/rows.ts';
import { DateStyleError, TIME_ROOM } from '../../src/encode/time.ts';
import { tokenWriter } from '../../src/encode/token-writer.ts';
import { pgCell, pgText } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';
import { encodeJson, escapedRowsJson, rowsJson } from '../support/rows-json.ts';

type Row = (string | null)[];

/** Members from these columns: any text, JSON, an id, and the four values of a token. */
const MEMBERS: ObjectLayout['members'] = [
  ['text', 'string'],
  ['json', 'json'],
  ['id', 'string'],
  ['timestamp', 'string'],
  ['userid', 'string'],
  ['questionRef', 'string'],
  ['surveyid', 'string'],
  ['token', tokenWriter(1, [3, 4, 5, 6])],
];
const KEY = [3, 0, 4];
const toLines = objectEncoder({ keyColumns: KEY, members: MEMBERS, after: '\n' });
const toCsv = csvEncoder({ columns: 7, keyColumns: KEY });

const textOf = (encode: EncodeRows, json: string) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(encodeJson(encode, json).data);

const tokenOf = (...key: Row) => Buffer.from(JSON.stringify([1, ...key])).toString('base64url');
/** A line of an object, with the characters escaped that line splitters may take for its end. */
const lineOf = (object: object, json = '') =>
  `${JSON.stringify(object).replace('"json":0', () => `"json":${json}`)}\n`
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
const naiveLines = (rows: readonly Row[]): string => rows.map(naiveLine).join('');
function naiveLine([text, json, id, ...key]: Row): string {
  const [timestamp, userid, questionRef, surveyid] = key;
  const token = tokenOf(...key);
  return lineOf(
    { text, json: 0, id, timestamp, userid, questionRef, surveyid, token },
    String(json),
  );
}

const jsonText = fc.option(
  fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value)),
    fc
      .tuple(pgText, pgText)
      .map(([name, value]) => JSON.stringify({ [name]: `${value}\u2028\u2029` })),
  ),
  { freq: 5 },
);
const userid = fc.oneof({ weight: 200, arbitrary: pgText }, fc.constant('é'.repeat(2e5)));
const rows = fc.array(fc.tuple(pgCell, jsonText, pgText, pgText, userid, pgText, pgText), {
  minLength: 1,
});

/** The objects of lines, as a line splitter finds them, with tokens decoded. */
const membersIn = (lines: string) => {
  const decode = (name: string, value: unknown): unknown =>
    name === 'token' ? JSON.parse(Buffer.from(String(value), 'base64url').toString()) : value;
  return lines
    .split(/[\n\u0085\u2028\u2029]/)
    .map((line) => JSON.parse(line || 'null', decode) as object | null);
};

describe.each<[string, EncodeRows, (rows: readonly Row[]) => string, (body: string) => unknown]>([
  ['CSV', toCsv, naiveCsv, (body) => body],
  ['lines of JSON', toLines, naiveLines, membersIn],
])('a page as %s', (_, encode, naive, contentOf) => {
  const rowOf = (text: string) => [text, null, 'id', '', '🎉', 'é"\n\u0001', 'y'];

  test('has its rows, however they were escaped, their number and the last one’s key, without the last row of the result', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const page = encodeJson(encode, rowsJson(some));
        expect(Buffer.from(page.data).toString()).toBe(naive(some));
        expect(page.rowCount).toBe(some.length);
        expect(page.lastKey).toEqual(KEY.map((column) => some.at(-1)?.[column]));
        const escaped = textOf(encode, escapedRowsJson(some));
        expect(contentOf(escaped)).toEqual(contentOf(naive(some)));
      }),
    );
  });

  test.each([
    ['too few columns', rowsJson([rowOf('a').slice(1)])],
    ['too many columns', rowsJson([[...rowOf('a'), 'z']])],
    ['a number for a cell', rowsJson([rowOf('a')]).replace('"a"', '1')],
    ['rows as objects', '[{"a":"b"}]}'],
    ['a raw control character', rowsJson([rowOf('a')]).replace('"a"', '"\n"')],
    ['a bad escape', rowsJson([rowOf('a')]).replace('"a"', String.raw`"\x41"`)],
    ['a bad \\u escape', rowsJson([rowOf('a')]).replace('"a"', String.raw`"\u00g0"`)],
  ])('is rejected with %s', (__, json) => {
    expect(() => encodeJson(encode, json)).toThrow('unexpected byte or end');
  });
});

test('CSV replaces a lone surrogate, which UTF-8 cannot encode', () => {
  const json = String.raw`[["a\ud83db","\udf89","\ud83d\ud83c\udf89"],["last row 1"]]`;
  expect(textOf(csvEncoder({ columns: 3, keyColumns: [] }), json)).toBe(
    'a\ufffdb,\ufffd,\ufffd🎉\n',
  );
});

describe('a time', () => {
  /** As Postgres prints it, without zeros at the end of its fraction, and as the API has it. */
  const times = fc
    .record({ seconds: fc.integer({ min: 0, max: 86_399 }), micros: fc.nat(999_999) })
    .map(({ seconds, micros }) => {
      const [, clock = ''] = new Date(seconds * 1000).toISOString().split(/[T.]/);
      const digits = String(micros).padStart(6, '0');
      const fraction = `.${digits}`.replace(/\.?0*$/, '');
      const isWhole = micros % 1000 === 0;
      return {
        printed: `2026-03-01 ${clock}${fraction}${' '.repeat(TIME_ROOM)}`,
        formatted: `2026-03-01T${clock}.${isWhole ? digits.slice(0, 3) : digits}Z`,
      };
    });
  const some = fc.array(fc.tuple(pgCell, times, pgText), { minLength: 1 });
  const options = { keyColumns: [1], timeColumn: 1 };

  const members: ObjectLayout['members'] = [
    ['a', 'string'],
    ['b', 'string'],
    ['c', 'string'],
    ['token', tokenWriter(1, [1, 2])],
  ];
  const csv = csvEncoder({ columns: 3, ...options });
  const json = objectEncoder({ members, after: '\n', ...options });
  const naiveJson = (list: readonly Row[]) =>
    list.map(([a, b = null, c = null]) => lineOf({ a, b, c, token: tokenOf(b, c) })).join('');

  test.each([
    ['CSV', csv, naiveCsv],
    ['JSON', json, naiveJson],
  ] as const)('has the form of the API, in cells, keys and tokens: %s', (_, encode, naive) => {
    fc.assert(
      fc.property(some, (list) => {
        const [printed, formatted] = (['printed', 'formatted'] as const).map((form) =>
          list.map(([a, time, c]): Row => [a, time[form], c]),
        ) as [Row[], Row[]];
        const page = encodeJson(encode, rowsJson(printed));
        expect(Buffer.from(page.data).toString()).toBe(naive(formatted));
        expect(page.lastKey).toEqual([formatted.at(-1)?.[1]]);
      }),
    );
  });

  test.each([
    '01.03.2026 00:03:43.77',
    '03/01/2026 00:03:43.77',
    'Sun Mar 01 00:03:43.77 2026',
    '2026-03-01T00:03:43.77',
    '2026-03-01 00:03:43.7700471',
    '2026-03-01 00:03:43,77',
    '',
  ])('in another style is refused: %s', (printed) => {
    const body = rowsJson([['a', `${printed}${' '.repeat(TIME_ROOM)}`, 'c']]);
    for (const encode of [csv, json])
      expect(() => encodeJson(encode, body)).toThrow(DateStyleError);
  });
});

test('an object stays on one line, however its JSON was formatted', () => {
  const rowOf = (json: string): Row => ['', json, '', '', '', '', ''];
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.constantFrom('\n', '\r\n'),
      (value, end) => {
        const json = JSON.stringify(value, null, '\t').replaceAll('\n', end);
        const expected = naiveLine(rowOf(json.replaceAll(/[\r\n\t]/g, ' ')));
        for (const some of [rowsJson([rowOf(json)]), escapedRowsJson([rowOf(json)])])
          expect(textOf(toLines, some)).toBe(expected);
      },
    ),
  );
});

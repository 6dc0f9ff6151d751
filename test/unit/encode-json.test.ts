import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LookupValue, TokenValue } from '../../src/encode/json-values.ts';
import { ObjectEncoder, type ObjectLayout } from '../../src/encode/json.ts';
import { MalformedPageError } from '../../src/encode/page.ts';
import { pgCell, pgText } from '../support/arbitraries.ts';
import { encodeCursor } from '../support/cursor.ts';
import { LAST_COLUMN, escapedSqlResult, sqlResult } from '../support/sql-result.ts';

type Row = (string | null)[];

/** Keys that differ only at their start. */
const NAMES = new Map([
  ['a1-id', 'first'],
  ['b2-id', 'with "quotes"'],
  ['Aa-id', ''],
  ['BB-id', 'like Aa'],
  ['c3-id', 'line\u0085separators\u2028\u2029'],
]);
/** Members from these columns: any text, JSON, a key of `NAMES`, and the four values of a token. */
const MEMBERS: ObjectLayout['members'] = [
  ['text', 'string'],
  ['json', 'json'],
  ['name', new LookupValue(NAMES)],
  ['id', 'string'],
  ['timestamp', 'string'],
  ['userid', 'string'],
  ['questionRef', 'string'],
  ['surveyid', 'string'],
  ['token', new TokenValue(1, [3, 4, 5, 6])],
];
const COLUMNS = { columns: 7, keyColumns: [3, 0, 4] };

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const lines = new ObjectEncoder({ members: MEMBERS, after: '\n' });
/** For escaped results, whose text cannot be a key of `NAMES`. */
const withoutNames = new ObjectEncoder({ members: MEMBERS.filter(([name]) => name !== 'name'), after: '\n' });
const encode = (body: string) => lines.encode(bytesOf(body), COLUMNS, LAST_COLUMN);
const linesOf = (body: string) => textOf(encode(body).data);

/** An object, written naively. */
function naiveObject([text, json, id, timestamp, userid, questionRef, surveyid]: Row): string {
  const token = encodeCursor({ timestamp, userid, questionRef, surveyid } as Parameters<typeof encodeCursor>[0]);
  const name = NAMES.get(id ?? '');
  const [first, , ...rest] = Object.entries({
    text,
    json: 0,
    name,
    id,
    timestamp,
    userid,
    questionRef,
    surveyid,
    token,
  }).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return escaped(`{${[first, `"json":${json}`, ...rest].join(',')}}`);
}

/** With the characters escaped that line splitters may take for the end of a line. */
const escaped = (object: string) =>
  object.replaceAll('\u0085', '\\u0085').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

const json = fc.option(
  fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value)),
  { freq: 5 },
);
const row = fc.tuple(pgCell, json, fc.constantFrom(...NAMES.keys()), pgText, pgText, pgText, pgText);
const rows = fc.array(row);

describe('an object', () => {
  test('equals that of a naive encoder, for any row', () => {
    fc.assert(
      fc.property(rows, (some) => {
        expect(linesOf(sqlResult(some, 7))).toBe(some.map((one) => `${naiveObject(one)}\n`).join(''));
      }),
    );
  });

  test('does not depend on how the JSON was escaped', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (some) => {
        const { data: objects } = withoutNames.encode(bytesOf(escapedSqlResult(some)), COLUMNS, LAST_COLUMN);
        for (const [i, line] of textOf(objects).split('\n').slice(0, -1).entries()) {
          const [text, value = null, id, ...key] = some[i] as Row;
          const { token, ...members } = JSON.parse(line) as Record<string, unknown>;
          expect(members).toMatchObject({ text, json: value === null ? null : (JSON.parse(value) as unknown), id });
          expect(Object.values(members).slice(3)).toEqual(key);
          expect(JSON.parse(Buffer.from(String(token), 'base64url').toString())).toEqual([1, ...key]);
        }
      }),
    );
  });

  test('keeps JSON as the database printed it, with every digit of a number', () => {
    const text = '{"id": 12345678901234567890123456789, "x": 1.50, "é": "\\"\\\\\\n🎉"}';
    expect(linesOf(sqlResult([['', text, 'a1-id', '', '', '', '']]))).toContain(`"json":${text},`);
  });

  test('stays on one line, however its JSON was formatted', () => {
    const rowOf = (text: string): Row => ['', text, 'a1-id', '', '', '', ''];
    const formatted = '{\r\n\t"a": [1,\n 2],\n"b": "\\n"\n}';
    for (const body of [sqlResult([rowOf(formatted)]), escapedSqlResult([rowOf(formatted)])]) {
      const { data: object } = withoutNames.encode(bytesOf(body), COLUMNS, LAST_COLUMN);
      expect(textOf(object)).toContain(`"json":${formatted.replace(/[\r\n\t]/g, ' ')},`);
    }
    const indented = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value, null, '\t'));
    fc.assert(
      fc.property(indented, (text) => {
        const [object = '', ...rest] = linesOf(sqlResult([rowOf(text)])).split('\n');
        expect(rest).toEqual(['']);
        expect((JSON.parse(object) as { json: unknown }).json).toEqual(JSON.parse(text));
      }),
    );
  });

  test('has no character that a line splitter takes for the end of a line, in any member, and is otherwise unchanged', () => {
    const hard = '\u0085\u2028\u2029 \u0084\u0086\u2027\u202a\u2068¡\u00c2â "\u2028"';
    const some: Row[] = [
      [hard, JSON.stringify({ [hard]: hard }), 'c3-id', hard, hard, hard, hard],
      ['plain', '{}', 'c3-id', '', '', '', ''],
    ];
    for (const [encoder, body] of [
      [lines, sqlResult(some)],
      [withoutNames, escapedSqlResult(some)],
    ] as const) {
      const text = textOf(encoder.encode(bytesOf(body), COLUMNS, LAST_COLUMN).data);
      expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
      expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ text: hard, json: { [hard]: hard } });
    }
  });

  test('is framed by the text before and after it', () => {
    const between = new ObjectEncoder({ members: [['a', 'string']], before: ',', after: ';' });
    const page = between.encode(bytesOf(sqlResult([['1'], [null]])), { columns: 1, keyColumns: [] }, LAST_COLUMN);
    expect(textOf(page.data)).toBe(',{"a":"1"};,{"a":null};');
  });

  test('can have any size', () => {
    const long = `é"\n${'x'.repeat(1000)}`.repeat(1000);
    const some: Row[] = [
      ['a', null, 'a1-id', '', '', '', ''],
      [long, JSON.stringify(long), 'b2-id', long, long, long, long],
    ];
    const small: Row[] = Array.from({ length: 1000 }, () => [null, null, 'a1-id', '', '', '', '']);
    for (const page of [some, small, [...small, ...some, ...small]]) {
      expect(linesOf(sqlResult(page)) === page.map((one) => `${naiveObject(one)}\n`).join('')).toBe(true);
    }
  });
});

describe('a page', () => {
  test('returns the number of rows and the last row’s key', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const page = lines.encode(bytesOf(sqlResult(some, 7)), COLUMNS, LAST_COLUMN);
        const last = some.at(-1);
        expect(page.rowCount).toBe(some.length);
        expect(page.lastKey).toEqual(last ? [last[3], last[0], last[4]] : []);
      }),
    );
  });

  test('has a check column if its query has one', () => {
    const columns = { columns: 1, keyColumns: [0], checked: true };
    const encoder = new ObjectEncoder({ members: [['a', 'string']] });
    const read = (check: string) => encoder.encode(bytesOf(sqlResult([['x', check]])), columns, LAST_COLUMN);
    const { data, lastKey } = read(`${LAST_COLUMN} 1`);
    expect(textOf(data)).toBe('{"a":"x"}');
    expect(lastKey).toEqual(['x']);
    expect(() => read(`${LAST_COLUMN} 2`)).toThrow(MalformedPageError);
  });

  const row7 = (text: string | null) => [text, null, 'a1-id', '', '🎉', 'é"\n\u0001', 'y'];

  test('is rejected if truncated, at any byte', () => {
    for (const last of ['', 'a', 'ab', 'abc']) {
      const body = sqlResult([row7('a'), row7(null).slice(0, -1).concat(last)]);
      // In a body that ends with its rows, the fewest bytes follow the last cell.
      const whole = body.replace(/("rows":.*),"rowAsArray":true\}$/s, '$1}');
      const bytes = bytesOf(whole);
      for (let end = 0; end < bytes.length; end++) {
        expect(() => lines.encode(bytes.slice(0, end), COLUMNS, LAST_COLUMN), `truncated at ${end}`).toThrow(
          MalformedPageError,
        );
      }
      expect(() => encode(whole)).not.toThrow();
    }
  });

  test.each([
    ['too few columns', sqlResult([row7('a').slice(1)])],
    ['too many columns', sqlResult([[...row7('a'), 'z']])],
    ['rows of different lengths', sqlResult([row7('a'), row7('a').slice(1)])],
    ['no rows and too few columns', sqlResult([], 6)],
    ['fewer rows than its rowCount', sqlResult([row7('a')]).replace('"rowCount":1', '"rowCount":2')],
    ['a number for a cell', sqlResult([row7('a')]).replace('"a"', '1')],
    ['a key that the table does not have', sqlResult([row7('a')]).replace('"a1-id"', '"a2-id"')],
    ['a longer key than those of the table', sqlResult([row7('a')]).replace('"a1-id"', '"a1-idx"')],
    ['a null for a key', sqlResult([row7('a')]).replace('"a1-id"', 'null')],
    ['a misspelt null for a cell', sqlResult([row7(null)]).replace('null', 'nuli')],
    ['rows as objects', '{"rows":[{"a":"b"}],"rowCount":1}'],
    ['a raw control character', sqlResult([row7('a')]).replace('"a"', '"\n"')],
    ['a bad escape', sqlResult([row7('a')]).replace('"a"', String.raw`"\x41"`)],
    ['a bad \\u escape', sqlResult([row7('a')]).replace('"a"', String.raw`"\u00g0"`)],
    ['bytes after its end', `${sqlResult([row7('a')])}{}`],
    ['HTML', '<html>'],
  ])('is rejected with %s', (_, body) => {
    expect(() => encode(body)).toThrow(MalformedPageError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cursorValue } from '../../src/responses/cursor.ts';
import { JsonValue, LookUpValue, StringValue } from '../../src/encode/json-values.ts';
import { ObjectEncoder, type ObjectLayout } from '../../src/encode/json.ts';
import { MalformedPageError } from '../../src/encode/malformed-page.ts';
import { pgCell, pgText } from '../support/arbitraries.ts';
import { encodeCursor } from '../support/cursor.ts';
import { escapedSqlAnswer, sqlAnswer } from '../support/sql-answer.ts';

type Row = (string | null)[];

/** Two of the keys differ and have the same hash. */
const NAMES = new Map([
  ['a1', 'first'],
  ['b2', 'with "quotes"'],
  ['Aa', ''],
  ['BB', 'like Aa'],
]);
/** Columns: any text, JSON, one of the table’s keys, and the four of a token. */
const MEMBERS: ObjectLayout['members'] = [
  ['text', new StringValue(0)],
  ['json', new JsonValue(1)],
  ['name', new LookUpValue(2, NAMES)],
  ['id', new StringValue(2)],
  ['token', cursorValue([3, 4, 5, 6])],
];
const COLUMNS = { columns: 7, keyColumns: [3, 0, 4] };

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const lines = new ObjectEncoder({ members: MEMBERS, behind: '\n' });
/** The keys of a table have no escapes. */
const withoutNames = new ObjectEncoder({ members: MEMBERS.filter(([name]) => name !== 'name'), behind: '\n' });
const encode = (body: string) => lines.encode(bytesOf(body), COLUMNS);
const linesOf = (body: string) => textOf(encode(body).json);

/** An object as a naive encoder writes it. */
function naiveObject([text, json, id, timestamp, userid, questionRef, surveyid]: Row): string {
  const token = encodeCursor({ timestamp, userid, questionRef, surveyid } as Parameters<typeof encodeCursor>[0]);
  const name = NAMES.get(id ?? '');
  const [first, , ...rest] = Object.entries({ text, json: 0, name, id, token }).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  return `{${[first, `"json":${json}`, ...rest].join(',')}}`;
}

const json = fc.option(
  fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value)),
  { freq: 5 },
);
const row = fc.tuple(pgCell, json, fc.constantFrom(...NAMES.keys()), pgText, pgText, pgText, pgText);
const rows = fc.array(row);

describe('an object', () => {
  test('is what a naive encoder makes of it, whatever the row', () => {
    fc.assert(
      fc.property(rows, (some) => {
        expect(linesOf(sqlAnswer(some, 7))).toBe(some.map((one) => `${naiveObject(one)}\n`).join(''));
      }),
    );
  });

  test('means the same however its text was escaped', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (some) => {
        const { json: objects } = withoutNames.encode(bytesOf(escapedSqlAnswer(some)), COLUMNS);
        for (const [i, line] of textOf(objects).split('\n').slice(0, -1).entries()) {
          const [text, value = null, id, ...key] = some[i] as Row;
          const { token, ...members } = JSON.parse(line) as Record<string, unknown>;
          expect(members).toEqual({ text, json: value === null ? null : (JSON.parse(value) as unknown), id });
          expect(JSON.parse(Buffer.from(String(token), 'base64url').toString())).toEqual([1, ...key]);
        }
      }),
    );
  });

  test('keeps every digit of a number, and the database’s spelling, in JSON', () => {
    const text = '{"id": 12345678901234567890123456789, "x": 1.50, "é": "\\"\\\\\\n🎉"}';
    expect(linesOf(sqlAnswer([['', text, 'a1', '', '', '', '']]))).toContain(`"json":${text},`);
  });

  test('stays on its line, however its JSON was laid out', () => {
    const rowOf = (text: string): Row => ['', text, 'a1', '', '', '', ''];
    const laidOut = '{\r\n\t"a": [1,\n 2],\n"b": "\\n"\n}';
    for (const body of [sqlAnswer([rowOf(laidOut)]), escapedSqlAnswer([rowOf(laidOut)])]) {
      const { json: object } = withoutNames.encode(bytesOf(body), COLUMNS);
      expect(textOf(object)).toContain(`"json":${laidOut.replace(/[\r\n\t]/g, ' ')},`);
    }
    const indented = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value, null, '\t'));
    fc.assert(
      fc.property(indented, (text) => {
        const [object = '', ...rest] = linesOf(sqlAnswer([rowOf(text)])).split('\n');
        expect(rest).toEqual(['']);
        expect((JSON.parse(object) as { json: unknown }).json).toEqual(JSON.parse(text));
      }),
    );
  });

  test('stands between what belongs around it', () => {
    const between = new ObjectEncoder({ members: [['a', new StringValue(0)]], before: ',', behind: ';' });
    const page = between.encode(bytesOf(sqlAnswer([['1'], [null]])), { columns: 1, keyColumns: [] });
    expect(textOf(page.json)).toBe(',{"a":"1"};,{"a":null};');
  });

  test('may be of any size', () => {
    const long = `é"\n${'x'.repeat(1000)}`.repeat(1000);
    const some: Row[] = [
      ['a', null, 'a1', '', '', '', ''],
      [long, JSON.stringify(long), 'b2', long, long, long, long],
    ];
    const small: Row[] = Array.from({ length: 1000 }, () => [null, null, 'a1', '', '', '', '']);
    for (const page of [some, small, [...small, ...some, ...small]]) {
      expect(linesOf(sqlAnswer(page)) === page.map((one) => `${naiveObject(one)}\n`).join('')).toBe(true);
    }
  });
});

describe('the page', () => {
  test('says how many rows it has, and gives back the last one’s key and the versions of all', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const page = lines.encode(bytesOf(sqlAnswer(some, 7)), { ...COLUMNS, versionColumn: 5 });
        const last = some.at(-1);
        expect(page.rowCount).toBe(some.length);
        expect(page.lastKey).toEqual(last ? [last[3], last[0], last[4]] : []);
        expect(page.versions).toEqual(some.map((one) => one[5]));
      }),
    );
  });

  const row7 = (text: string | null) => [text, null, 'a1', '', '🎉', 'é"\n\u0001', 'y'];

  test('is refused when it is cut off, at whatever byte', () => {
    const whole = sqlAnswer([row7('a'), row7(null)]);
    const bytes = bytesOf(whole);
    for (let end = 0; end < bytes.length; end++) {
      expect(() => lines.encode(bytes.slice(0, end), COLUMNS), `cut at ${end}`).toThrow(MalformedPageError);
    }
    expect(() => encode(whole)).not.toThrow();
  });

  test.each([
    ['fewer columns than there should be', sqlAnswer([row7('a').slice(1)])],
    ['more columns than there should be', sqlAnswer([[...row7('a'), 'z']])],
    ['rows of different lengths', sqlAnswer([row7('a'), row7('a').slice(1)])],
    ['no rows, of another query', sqlAnswer([], 6)],
    ['fewer rows than it says', sqlAnswer([row7('a')]).replace('"rowCount":1', '"rowCount":2')],
    ['a number for a cell', sqlAnswer([row7('a')]).replace('"a"', '1')],
    ['a key that is not in the table', sqlAnswer([row7('a')]).replace('"a1"', '"a2"')],
    ['a null for a key', sqlAnswer([row7('a')]).replace('"a1"', 'null')],
    ['a word like null for a cell', sqlAnswer([row7(null)]).replace('null', 'nuli')],
    ['rows as objects', '{"rows":[{"a":"b"}],"rowCount":1}'],
    ['a raw control character', sqlAnswer([row7('a')]).replace('"a"', '"\n"')],
    ['a bad escape', sqlAnswer([row7('a')]).replace('"a"', String.raw`"\x41"`)],
    ['a bad \\u escape', sqlAnswer([row7('a')]).replace('"a"', String.raw`"\u00g0"`)],
    ['something behind its end', `${sqlAnswer([row7('a')])}{}`],
    ['HTML', '<html>'],
  ])('is refused with %s', (_, body) => {
    expect(() => encode(body)).toThrow(MalformedPageError);
  });
});

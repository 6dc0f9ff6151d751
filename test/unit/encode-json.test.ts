import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenWriter } from '../../src/encode/token-writer.ts';
import { type ObjectLayout, objectEncoder } from '../../src/encode/json.ts';
import { MalformedRowsError } from '../../src/encode/rows.ts';
import { pgCell, pgText } from '../support/arbitraries.ts';
import { encodeCursor } from '../support/cursor.ts';
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

const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const lines = objectEncoder({ keyColumns: [3, 0, 4], members: MEMBERS, after: '\n' });
const encode = (json: string) => encodeJson(lines, json);
const linesOf = (body: string) => textOf(encode(body).data);

/** An object, written naively. */
function naiveObject([text, json, id, timestamp, userid, questionRef, surveyid]: Row): string {
  const token = encodeCursor({ timestamp, userid, questionRef, surveyid } as Parameters<typeof encodeCursor>[0]);
  const [first, , ...rest] = Object.entries({
    text,
    json: 0,
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

const jsonText = fc.option(
  fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value)),
    fc.tuple(pgText, pgText).map(([name, value]) => JSON.stringify({ [name]: `${value}\u2028\u2029` })),
  ),
  { freq: 5 },
);
const row = fc.tuple(pgCell, jsonText, pgText, pgText, pgText, pgText, pgText);
const rows = fc.array(row, { minLength: 1 });

describe('an object', () => {
  test('does not depend on how the JSON was escaped, and has no character that ends a line for a line splitter', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const { data: objects } = encodeJson(lines, escapedRowsJson(some));
        expect(textOf(objects)).not.toMatch(/[\u0085\u2028\u2029]/);
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

  test('stays on one line, however its JSON was formatted', () => {
    const rowOf = (text: string): Row => ['', text, 'id', '', '', '', ''];
    const formatted = '{\r\n\t"a": [1,\n 2],\n"b": "\\n"\n}';
    for (const body of [rowsJson([rowOf(formatted)]), escapedRowsJson([rowOf(formatted)])]) {
      const { data: object } = encodeJson(lines, body);
      expect(textOf(object)).toContain(`"json":${formatted.replace(/[\r\n\t]/g, ' ')},`);
    }
    const indented = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value, null, '\t'));
    fc.assert(
      fc.property(indented, (text) => {
        const [object = '', ...rest] = linesOf(rowsJson([rowOf(text)])).split('\n');
        expect(rest).toEqual(['']);
        expect((JSON.parse(object) as { json: unknown }).json).toEqual(JSON.parse(text));
      }),
    );
  });

  test('is framed by the text before and after it', () => {
    const layout = { keyColumns: [], members: [['a', 'string']] as const, before: ',', after: ';' };
    const page = encodeJson(objectEncoder(layout), rowsJson([['1'], [null]]));
    expect(textOf(page.data)).toBe(',{"a":"1"};,{"a":null};');
  });

  test('can have any size', () => {
    const long = `é"\n${'x'.repeat(1000)}`.repeat(1000);
    const some: Row[] = [
      ['a', null, 'id', '', '', '', ''],
      [long, JSON.stringify(long), 'id2', long, long, long, long],
    ];
    const small: Row[] = Array.from({ length: 1000 }, (_, i) => [null, null, 'id', String(i % 2), '', '', '']);
    for (const page of [some, small, [...small, ...some, ...small]]) {
      expect(linesOf(rowsJson(page)) === page.map((one) => `${naiveObject(one)}\n`).join('')).toBe(true);
    }
  });
});

describe('a page', () => {
  test('has the number of rows, the last row’s key, and the text of its last cell, which is not written', () => {
    fc.assert(
      fc.property(rows, (some) => {
        const page = encode(rowsJson(some));
        const last = some.at(-1);
        expect(textOf(page.data)).toBe(some.map((one) => `${naiveObject(one)}\n`).join(''));
        expect(page.rowCount).toBe(some.length);
        expect(page.lastKey).toEqual([last?.[3], last?.[0], last?.[4]]);
        expect(page.check).toBe(`${some.length} check`);
      }),
    );
  });

  const row7 = (text: string | null) => [text, null, 'id', '', '🎉', 'é"\n\u0001', 'y'];

  test('is rejected if truncated, at any byte', () => {
    for (const last of ['', 'a', 'ab', 'abc']) {
      const whole = rowsJson([row7('a'), row7(null).slice(0, -1).concat(last)]);
      const bytes = new TextEncoder().encode(whole);
      const end = bytes.length - 1; // the `}` after the rows
      for (let length = 0; length < end; length++) {
        expect(() => lines(bytes.slice(0, length), 0), `truncated at ${length}`).toThrow(MalformedRowsError);
      }
      expect(() => encode(whole)).not.toThrow();
    }
  });

  test('takes little more memory than its objects, from the first page on', () => {
    const { data } = encodeJson(
      objectEncoder({ keyColumns: [3, 0, 4], members: MEMBERS }),
      rowsJson([row7('a'.repeat(1e6)), row7('b'.repeat(1e6))]),
    );
    expect(data.buffer.byteLength / data.length).toBeLessThan(1.05);
  });

  test.each([
    ['too few columns', rowsJson([row7('a').slice(1)])],
    ['too many columns', rowsJson([[...row7('a'), 'z']])],
    ['rows of different lengths', rowsJson([row7('a'), row7('a').slice(1)])],
    ['a number for a cell', rowsJson([row7('a')]).replace('"a"', '1')],
    ['a misspelt null for a cell', rowsJson([row7(null)]).replace('null', 'nuli')],
    ['rows as objects', '[{"a":"b"}]}'],
    ['a raw control character', rowsJson([row7('a')]).replace('"a"', '"\n"')],
    ['a bad escape', rowsJson([row7('a')]).replace('"a"', String.raw`"\x41"`)],
    ['a bad \\u escape', rowsJson([row7('a')]).replace('"a"', String.raw`"\u00g0"`)],
    ['HTML', '<html>'],
  ])('is rejected with %s', (_, json) => {
    expect(() => encode(json)).toThrow(MalformedRowsError);
  });
});

import { expect, test } from 'vitest';
import { encodeCursor } from '../../src/responses/cursor.ts';
import { type RecordFormat, createRecords } from '../../site/home/downloads/records.ts';
import { csvOf, formId, responseRow } from '../support/export-files.ts';

const cursors = ['Åsa "1",\n2', '', 'u'].map((userid, i) => ({
  timestamp: `2026-03-01T00:03:43.77004${i}Z`,
  userid,
  question_ref: `q\r\n🌍${i}`,
  surveyid: formId,
}));
const header = `${Object.keys(responseRow()).join(',')}\n`;
const records = cursors.map(({ timestamp, userid, question_ref }, i) => {
  const response = ['""\n"\r', '', 'plain'][i] ?? null;
  return csvOf([responseRow({ timestamp, userid, question_ref, response })]).slice(header.length);
});
const tokens = ['a', '"b', 'ç'];
const lines = tokens.map((token) => `${JSON.stringify({ response: '"\n', token })}\n`);

/** Passes a file on in two pieces. @returns what was complete after each piece */
function pass(format: RecordFormat, bytes: Buffer, at: number, known: string[] = []) {
  const reader = createRecords(format, known);
  return [bytes.subarray(0, at), bytes.subarray(at)].map((piece) => {
    const complete = Buffer.concat(reader.push(new Uint8Array(piece))).toString();
    return { complete, count: reader.count(), cursor: reader.cursor(), isWhole: reader.isWhole() };
  });
}

test.each<
  [
    what: string,
    RecordFormat,
    start: string,
    records: string[],
    cursors: string[],
    known?: string[],
  ]
>([
  ['a CSV file', 'csv', header, records, cursors.map(encodeCursor)],
  [
    'a CSV file with a byte order mark',
    'csv',
    `\uFEFF${header}`,
    records,
    cursors.map(encodeCursor),
  ],
  [
    'a CSV file that continues another',
    'csv',
    '',
    records,
    cursors.map(encodeCursor),
    header.trim().split(','),
  ],
  ['NDJSON', 'ndjson', '', lines, tokens],
])(
  '%s is cut after its last complete record, wherever it breaks off',
  (_, format, start, parts, expected, known) => {
    const bytes = Buffer.from(start + parts.join(''));
    const ends = parts.map((__, i) => Buffer.byteLength(start + parts.slice(0, i + 1).join('')));
    for (let at = 0; at <= bytes.length; at++) {
      const count = ends.filter((end) => end <= at).length;
      const startEnd = Buffer.byteLength(start);
      const end = ends[count - 1] ?? (at < startEnd ? 0 : startEnd);
      const [first, second] = pass(format, bytes, at, known);
      const complete = bytes.toString('utf8', 0, end);
      const cursor = expected[count - 1] ?? '';
      expect(first, `cut at byte ${at}`).toEqual({ complete, count, cursor, isWhole: end === at });
      expect(complete + second?.complete).toBe(bytes.toString());
      expect(second).toMatchObject({ count: 3, cursor: expected[2] });
    }
  },
);

test('records of a wide file are counted, but it cannot be continued; other files are taken as they are', () => {
  const file = Buffer.from(header + records.join(''));
  expect(pass('wide', file, file.length - 1)[1]).toMatchObject({
    count: 3,
    cursor: '',
    isWhole: true,
  });
  const complete = file.toString('utf8', 0, 3);
  expect(pass('other', file, 3)[0]).toEqual({ complete, count: 0, cursor: '', isWhole: true });
});

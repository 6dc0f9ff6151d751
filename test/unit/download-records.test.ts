import { describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/responses/cursor.ts';
import { type RecordFormat, createRecords } from '../../site/home/downloads/records.ts';
import { csvOf, formId, responseRow } from '../support/export-files.ts';

/** The bytes of each record of a CSV file; the first is the header. */
const records = [
  ['', csvOf([responseRow()]).split('\n', 1)[0] ?? ''],
  ...['""\n"\r', '', 'plain'].map((response, i) =>
    csvOf([
      responseRow({
        timestamp: `2026-03-01T00:03:43.77004${i}Z`,
        userid: i === 0 ? '' : 'Åsa "1",\n2',
        question_ref: `q\r\n🌍${i}`,
        response,
        translated_response: i === 1 ? 'a,"b"\n,' : null,
      }),
    ]).split(/\n(.*)/s),
  ),
].map(([, text = ''], i) => Buffer.from(i === 0 ? `${text}\n` : text));
const file = Buffer.concat(records);
const columns = records[0]?.toString().trim().split(',') ?? [];
const cursors = [0, 1, 2].map((i) =>
  encodeCursor({
    timestamp: `2026-03-01T00:03:43.77004${i}Z`,
    userid: i === 0 ? '' : 'Åsa "1",\n2',
    questionRef: `q\r\n🌍${i}`,
    surveyid: formId,
  }),
);

/** Passes a file on in two pieces, and returns what was complete after the first, and after the second. */
function pass(format: RecordFormat, bytes: Buffer, at: number, known: string[] = []) {
  const reader = createRecords(format, known);
  const state = (piece: Uint8Array<ArrayBuffer>) => {
    const complete = Buffer.concat(reader.push(piece)).toString();
    return { complete, count: reader.count(), cursor: reader.cursor(), isWhole: reader.isWhole() };
  };
  return [state(new Uint8Array(bytes.subarray(0, at))), state(new Uint8Array(bytes.subarray(at)))] as const;
}

/** The number of records that end at or before a position. */
const endedAt = (parts: readonly Buffer[], at: number) =>
  parts.filter((_, i) => Buffer.concat(parts.slice(0, i + 1)).length <= at).length;

describe('the records of a download', () => {
  test.each([
    { name: 'with a byte order mark', bom: '\u{feff}' },
    { name: 'without one', bom: '' },
  ])('CSV $name is cut after the last complete record, wherever it breaks off', ({ bom }) => {
    const parts = records.map((record, i) => (i === 0 ? Buffer.concat([Buffer.from(bom), record]) : record));
    const bytes = Buffer.concat(parts);
    for (let at = 0; at <= bytes.length; at++) {
      const ended = endedAt(parts, at);
      const before = Buffer.concat(parts.slice(0, ended));
      const [first, second] = pass('csv', bytes, at);
      expect(first, `cut at byte ${at}`).toEqual({
        complete: before.toString(),
        count: Math.max(ended - 1, 0),
        cursor: cursors[ended - 2] ?? '',
        isWhole: before.length === at,
      });
      expect(first.complete + second.complete).toBe(bytes.toString());
      expect(second).toMatchObject({ count: 3, cursor: cursors[2] });
    }
  });

  test('a CSV file without a header continues one with known columns', () => {
    const rest = Buffer.concat(records.slice(2));
    for (let at = 1; at < rest.length; at++) {
      const [, second] = pass('csv', rest, at, columns);
      expect(second).toMatchObject({ count: 2, cursor: cursors[2], isWhole: true });
    }
  });

  test('NDJSON is cut after the last complete line, and continued with its token', () => {
    const lines = ['a', '"b', 'ç'].map((token) => Buffer.from(`${JSON.stringify({ response: '"\n', token })}\n`));
    const bytes = Buffer.concat(lines);
    for (let at = 0; at <= bytes.length; at++) {
      const ended = endedAt(lines, at);
      expect(pass('ndjson', bytes, at)[0]).toMatchObject({
        complete: Buffer.concat(lines.slice(0, ended)).toString(),
        count: ended,
        cursor: ['', 'a', '"b', 'ç'][ended],
      });
    }
  });

  test('records of a wide file are counted, but it cannot be continued; other files are taken as they are', () => {
    expect(pass('wide', file, file.length - 1)[1]).toMatchObject({ count: 3, cursor: '', isWhole: true });
    expect(pass('other', file, 3)[0]).toEqual({
      complete: file.toString().slice(0, 3),
      count: 0,
      cursor: '',
      isWhole: true,
    });
  });
});

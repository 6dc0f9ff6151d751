import { expect, test } from 'vitest';
import { CsvRecords, recordOf } from '../../src/encode/records.ts';
import { questionColumns } from '../../src/formats/wide/columns.ts';
import { NumberCells } from '../../src/formats/wide/number-cells.ts';
import { wideRecords } from '../../src/formats/wide/records.ts';
import { rowColumns } from '../../src/formats/wide/rows.ts';
import { Timing } from '../../src/formats/wide/timing.ts';
import { pageOf } from '../support/rows-json.ts';

const ID = '00000000-0000-4000-8000-000000000000';
const TIME = '2026-03-01T00:00:00.000Z';
const rowOf = (userid: string, question: number, response: string) => [
  userid,
  ID,
  'start',
  ID,
  '1',
  `q${question}`,
  '{"a": "b"}',
  TIME,
  response,
];

const questions = questionColumns(
  Array.from({ length: 20 }, (_, i) => ({
    shortcode: 'f',
    questionRef: `q${i}`,
    column: `f.q${i}`,
  })),
  [{ id: ID, shortcode: 'f' }],
);

/** Makes records of pages. @returns their text, and the bytes that were held after each page */
async function recordsOf(pages: readonly string[][][]): Promise<{ text: string; held: number[] }> {
  const held: number[] = [];
  const hold = async (bytes: number) => void held.push(bytes);
  const records = wideRecords({ questions, row: rowColumns({}) }, hold);
  let text = '';
  for await (const chunk of records(new CsvRecords(), pages.map(pageOf)))
    text += Buffer.from(chunk).toString();
  return { text, held };
}

test('a participant’s responses are held while there may be more on the next page', async () => {
  const some = [
    rowOf('a', 0, 'a0'),
    rowOf('b', 0, 'b0'),
    rowOf('b', 1, 'b1'),
    rowOf('b', 0, 'b2'),
    rowOf('c', 0, 'c0'),
    rowOf('c', 1, 'c1'),
  ];
  const { text, held } = await recordsOf([
    some.slice(0, 2),
    some.slice(2, 3),
    some.slice(3, 5),
    some.slice(5),
  ]);
  expect(text).toBe((await recordsOf([some])).text);
  expect(text.match(/^[abc]|[abc]\d/gm)?.join(' ')).toBe('a a0 b b2 b1 c c0 c1');
  const sizeOf = (...range: [number, number?]) => {
    const { data, cells } = pageOf(some.slice(...range));
    return data.length + cells.byteLength;
  };
  expect(held).toEqual([sizeOf(1, 2), sizeOf(1, 3), sizeOf(4, 5), sizeOf(4)]);
});

test('the responses of a participant may take 12 MiB', async () => {
  const pagesOf = (count: number) =>
    Array.from({ length: count }, (_, i) => [rowOf('a', i, 'x'.repeat(2 ** 20))]);
  await expect(recordsOf(pagesOf(11))).resolves.toMatchObject({ held: { length: 11 } });
  await expect(recordsOf(pagesOf(12))).rejects.toMatchObject({ name: 'ParticipantTooLargeError' });
});

test('the timing of answers is exact over all years', () => {
  const found = new NumberCells();
  const timing = new Timing();
  const times = ['0001-01-01T00:00:00.000001Z', '9999-12-31T23:59:59.999999Z'];
  for (const i of times.keys()) timing.add(recordOf(times), i);
  timing.write(found, 0);
  expect(String.fromCharCode(...found.data.subarray(0, found.cells[found.count]))).toBe(
    `2,0,${'315537897599.999998,'.repeat(5)}`,
  );
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CsvRecords } from '../../src/encode/records.ts';
import { questionColumns } from '../../src/formats/wide/columns.ts';
import { rowColumns } from '../../src/formats/wide/rows.ts';
import { wideTableBuilder } from '../../src/formats/wide/table-builder.ts';
import { pageOf } from '../support/rows-json.ts';

/** A row, with the numbers of its parent, flow, question and form. */
interface Row {
  readonly userid?: string;
  readonly parent?: number;
  readonly flow?: number;
  readonly question?: number;
  readonly form?: number;
  readonly response?: string;
}

const QUESTIONS = 5000;
const ROWS_PER_PAGE = 2500;

const uuid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
const numbers = Array.from({ length: QUESTIONS }, (_, i) => i);
const columns = questionColumns(
  numbers.flatMap((i) => [
    { shortcode: 'f0', questionRef: `q${i}`, column: `f0.q${i}` },
    { shortcode: `f${i}`, questionRef: 'q0', column: `f${i}.q0` },
  ]),
  numbers.map((i) => ({ id: uuid(i), shortcode: `f${i}` })),
);

const newBuilder = () => wideTableBuilder(columns, rowColumns({}), 'last', new CsvRecords());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function memory(): number {
  collectGarbage();
  collectGarbage(); // ends the sweep of the first
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function cellsOf({
  userid = 'u',
  parent = 0,
  flow = 1,
  question = 0,
  form = 0,
  response = 'x',
}: Row): string[] {
  const time = '2026-03-01T00:00:00.000Z';
  return [
    userid,
    uuid(parent),
    'start',
    uuid(form),
    String(flow),
    `q${question}`,
    '{"a": "b"}',
    time,
    response,
  ];
}

/** Adds rows of one participant. */
function add(
  builder: ReturnType<typeof newBuilder>,
  rows: number,
  rowAt: (i: number) => Row,
): void {
  for (let i = 0; i < rows; i += ROWS_PER_PAGE) {
    const page = pageOf(
      Array.from({ length: Math.min(ROWS_PER_PAGE, rows - i) }, (_, j) => cellsOf(rowAt(i + j))),
    );
    for (const chunk of builder.add(page))
      throw new Error(`${chunk.length} bytes before the participant's end`);
  }
}

// Each takes at least 5 MiB, because this process may free up to 1 MiB of other memory meanwhile.
test.each<[string, number, (i: number) => Row]>([
  [
    'answers of one byte',
    150_000,
    (i) => ({ parent: Math.floor(i / QUESTIONS), question: i % QUESTIONS }),
  ],
  ['long answers', 1000, (i) => ({ question: i, response: 'x'.repeat(10_000) })],
  [
    'replaced answers',
    20_000,
    (i) => ({ question: i % QUESTIONS, response: 'x'.repeat(1000 + (i % 7)) }),
  ],
  ['records', 15_000, (i) => ({ parent: i })],
  ['flows', 120_000, (i) => ({ flow: 1_700_000_000_000 + i })],
  ['forms', 80_000, (i) => ({ parent: Math.floor(i / QUESTIONS), form: i % QUESTIONS })],
])('the size of a participant with many %s is what they take in memory', (_, rows, rowAt) => {
  const builder = newBuilder();
  const before = memory();
  add(builder, rows, rowAt);
  const held = memory() - before;
  expect(builder.size / held).toBeGreaterThan(0.75);
  expect(builder.size / held).toBeLessThan(1.33);
  for (const chunk of builder.end()) if (chunk.length === 0) throw new Error('an empty chunk');
});

test('a participant counts until its records are written', () => {
  const builder = newBuilder();
  add(builder, 5000, (i) => ({ parent: i }));
  const { size } = builder;
  const sizes = Array.from(builder.add(pageOf([cellsOf({ userid: 'v' })])), () => builder.size);
  expect(sizes.length).toBeGreaterThan(10);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(size);
  expect(builder.size).toBeLessThan(2000);
});

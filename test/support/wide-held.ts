// Runs in a worker thread with little memory: makes the records of one participant, most of which replace an earlier one.
import { CsvRecords } from '../../src/encode/records.ts';
import { questionColumns } from '../../src/formats/wide/columns.ts';
import { rowColumns } from '../../src/formats/wide/rows.ts';
import { WideTableBuilder } from '../../src/formats/wide/table-builder.ts';
import { pageOf } from './rows-json.ts';

const QUESTIONS = 4000;
const row = (question: string, response: string) => [
  'u',
  null,
  'start',
  'v',
  '1',
  question,
  '2026-03-01T00:00:00.000Z',
  null,
  response,
];

const questions = ['replaced', ...Array(QUESTIONS).keys()].map((name) => ({
  shortcode: 'f',
  questionRef: String(name),
}));
const columns = questionColumns(questions, [{ id: 'v', shortcode: 'f' }]);
const builder = new WideTableBuilder(columns, rowColumns({}), 'last', new CsvRecords());
for (let i = 0; i < QUESTIONS; i++) {
  // The response that is kept is a cell of this page.
  const page = pageOf([row(String(i), `an answer of some length, ${i}`), row('replaced', 'x'.repeat(60_000) + i)]);
  for (const chunk of builder.add(page)) throw new Error(`${chunk.length} bytes before the participant's end`);
}
for (const chunk of builder.end()) if (chunk.length === 0) throw new Error('an empty chunk');

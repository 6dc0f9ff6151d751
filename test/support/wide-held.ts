// Runs in a worker thread with little memory: folds one participant's responses, most of which replace an earlier one.
import { questionColumns } from '../../src/wide/columns.ts';
import { Fold } from '../../src/wide/fold.ts';

const QUESTIONS = 4000;
const row = (question: string, response: string) => `u,,start,v,${question},1,2026-03-01T00:00:00.000Z,,${response}\n`;

const questions = ['replaced', ...Array(QUESTIONS).keys()].map((name) => ({
  shortcode: 'f',
  questionRef: String(name),
}));
const fold = new Fold(questionColumns(questions, [{ id: 'v', shortcode: 'f' }]));
for (let i = 0; i < QUESTIONS; i++) {
  // The response that is kept is a slice of this part.
  const part = row(String(i), `an answer of some length, ${i}`) + row('replaced', 'x'.repeat(60_000) + i);
  for (const chunk of fold.add(part)) throw new Error(`${chunk.length} bytes before the participant's end`);
}
for (const chunk of fold.end()) if (chunk.length === 0) throw new Error('an empty chunk');

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { questionText } from '../support/arbitraries.ts';
import { type Choice, choicesOf } from '../support/choices.ts';
import { naiveCsv } from '../support/csv.ts';
import { addResponses, createAccount, createBulkSurvey, storeSurvey } from '../support/data.ts';
import { expectError, get } from './requests.ts';

const HEADER =
  'column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices\n';

const account = await createAccount();

test('a codebook can have more questions than a wide file, of the same time and participant, until it is too large', async () => {
  const time = '2026-03-01T00:00:00.000Z';
  const texts = {
    question_ref: `'q' || n + 1`,
    question_idx: 'n + 1',
    question_text: `repeat('x', 300)`,
    response: `'yes'`,
  };
  const columns = { userid: `'u'`, timestamp: `'${time}'`, ...texts };
  const survey = await createBulkSurvey(account, { rows: 6000, forms: 2, columns });
  const response = await get('/responses/questions', survey, { format: 'csv' });
  const expected = Array.from({ length: 6000 }, (_, i) => {
    const name = `q${i + 1}`;
    return [
      `form0.${name}`,
      'form0',
      name,
      String(i + 1),
      'x'.repeat(300),
      '1',
      '1',
      time,
      time,
      null,
    ];
  });
  expect(response.text === HEADER + naiveCsv(expected)).toBe(true);

  await addResponses(
    survey,
    Array.from({ length: 3 }, () => ({ question_text: 'x'.repeat(1_000_000) })),
  );
  const message =
    'This selection has too many questions to return at once. Narrow it with shortcode or question_ref.';
  for (const format of ['json', 'csv'])
    expectError(
      await get('/responses/questions', survey, { format }),
      400,
      'export_too_large',
      message,
    );
  const { text } = await get('/responses/questions', survey, { question_ref: 'q6000' });
  expect(JSON.parse(text)).toMatchObject({
    questions: [{ question_ref: 'q6000', question_idx: '6000' }],
  });
});

test('choices are found in every way that texts list them, as a program does that reads character by character', async () => {
  const texts = fc.sample(questionText, 500);
  const survey = await storeSurvey(
    texts.map((question_text, question_idx) => ({ question_text, question_idx })),
  );
  const response = await get('/responses/questions', survey);
  const { questions } = JSON.parse(response.text) as {
    questions: { question_text: string; choices: Choice[] | null }[];
  };
  expect(questions).toMatchObject(
    texts.map((text) => ({ question_text: text, choices: choicesOf(text) })),
  );
});

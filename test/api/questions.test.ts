import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { questionText } from '../support/arbitraries.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { type Choice, choicesOf } from '../support/choices.ts';
import { naiveCsv } from '../support/csv.ts';
import {
  type TestAccount,
  type TestSurvey,
  addResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
} from '../support/data.ts';

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');

type Parameters = Record<string, string | readonly string[] | undefined>;

const questions = (survey: TestSurvey, parameters: Parameters = {}) =>
  fetchApi(`/responses/questions${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key });

const HEADER = 'column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices\n';

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

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
  const response = await questions(survey, { format: 'csv' });
  const expected = Array.from({ length: 6_000 }, (_, i) => {
    const name = `q${i + 1}`;
    return [`form0.${name}`, 'form0', name, String(i + 1), 'x'.repeat(300), '1', '1', time, time, null];
  });
  expect(response.text === HEADER + naiveCsv(expected)).toBe(true);

  await addResponses(
    survey,
    Array.from({ length: 10 }, () => ({ question_text: 'x'.repeat(2_000_000) })),
  );
  for (const format of ['json', 'csv']) {
    const refused = await questions(survey, { format });
    expect([refused.status, refused.headers.get('X-Error-Code'), refused.text]).toEqual([
      400,
      'export_too_large',
      errorBody('This selection has too many questions to return at once. Narrow it with shortcode or question_ref.'),
    ]);
  }
  expect(JSON.parse((await questions(survey, { question_ref: 'q6000' })).text)).toMatchObject({
    questions: [{ question_ref: 'q6000', question_idx: '6000' }],
  });
});

/** Texts of questions, and the labels of their choices; null if they have none. */
const CHOICES: readonly (readonly [text: string, labels: string[] | null])[] = [
  ['Which?\n-A. North Central\n- B South\n\nC) East\nD : West', ['North Central', 'South', 'East', 'West']],
  ['Which?\r\na. yes, "or" so\r\nb. 🎉\\\u2028\r\n', ['yes, "or" so', '🎉\\\u2028']],
  ['Which?\n \t\u00a0-\u00a0A\u00a0.\tyes \u00a0\n- B.\tno\t', ['yes', 'no']],
  ['A friend said:\nnot a choice\n- A. yes\nnor this\n- B. no\n• C. nor this', ['yes', 'no']],
  ['Which?\n- A. yes\n- A. yes\n- B. yes\n- a. yes', ['yes', 'yes']],
  ['Which?\n- A. yes\r\r\n- B. no \r', ['yes\r', 'no']],
  [
    `Which?${LETTERS.map((letter) => `\n${letter}. ${letter}${letter}`).join('')}`,
    LETTERS.map((letter) => letter + letter),
  ],
  ['A. yes\nB. no', null],
  ['Which?\n- A. yes\n- A. yes', null],
  ['Which?\n- A. yes\n- A. no\n- B. maybe', null],
  ['Which?\n- B. no\n- A. yes', null],
  ['Which?\n- A. yes\n- C. no', null],
  ['Which?\n- A. yes\n- B. no\nA friend would say so.', null],
  ['Which?\n- A. \n- B. \r', null],
  ['Which?\n- A.yes\n- B.no', null],
  ['Which?\n- A.. yes\n- B. : no', null],
  ['Which?\n-- A. yes\n-- B. no', null],
  ['Which?\n- А. yes\n- В. no', null], // Cyrillic
  ['Which?\n- A\u2003yes\n- B\u2003no', null],
  ['Which?\n1. yes\n2. no', null],
  ['Which?\r- A. yes\r- B. no', null],
];

/** The questions of a survey that asks each of these texts. */
async function askedFor(texts: readonly string[]) {
  const survey = await createSurvey(account);
  await addResponses(
    survey,
    texts.map((question_text, question_idx) => ({ question_text, question_idx })),
  );
  const { text } = await questions(survey);
  return (JSON.parse(text) as { questions: { question_text: string; choices: Choice[] | null }[] }).questions;
}

test('choices are found in every way that texts list them, and nowhere else', async () => {
  const found = await askedFor(CHOICES.map(([text]) => text));
  expect(
    found.map(({ question_text, choices }) => [question_text, choices?.map(({ label }) => label) ?? null]),
  ).toEqual(CHOICES);
  for (const { choices } of found) {
    expect(choices?.map(({ value }) => value) ?? []).toEqual(LETTERS.slice(0, choices?.length ?? 0));
  }
});

test('choices are those of a program that reads texts character by character', async () => {
  for (const { question_text, choices } of await askedFor(fc.sample(questionText, 500))) {
    expect([question_text, choices]).toEqual([question_text, choicesOf(question_text)]);
  }
});

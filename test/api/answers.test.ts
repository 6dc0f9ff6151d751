import { expect, test } from 'vitest';
import { answersQuery } from '../../src/db/answers.ts';
import { render } from '../../src/db/sql.ts';
import { createAccount, createBulkSurvey, storeSurvey, withClient } from '../support/data.ts';
import { parseCsv } from '../support/csv.ts';
import { expectError, get } from './requests.ts';

const account = await createAccount();

/** A survey with a participant for each of some answers to one question. */
const surveyOf = (answers: readonly string[]) =>
  storeSurvey(
    answers.map((response, i) => ({ userid: `u${i}`, question_ref: 'q', response, parent: null })),
    { account },
  );

test('answers by an arm of more than 10 hashes, or by what is no column, are refused', async () => {
  const survey = await surveyOf(['a']);
  const message =
    'by must be the name of a question’s column in the wide file of this survey, metadata.<key>, arm.seed_N, or arm.seed_N_M with M from 1 to 10.';
  for (const by of ['arm.seed_2_11', 'arm.', 'arm.seed', 'userid', 'metadata', '', 'q', 'f0.Q'])
    expectError(await get('/responses/answers', survey, { by }), 400, 'invalid_parameter', message);
  expectError(
    await get('/responses/answers', survey, { numbers: 'true', format: 'csv' }),
    400,
    'invalid_parameter',
    'numbers can only be used with format=json.',
  );
});

test('safe escapes formulas in groups too', async () => {
  const survey = await surveyOf(['=1+1', 'a']);
  const { text } = await get('/responses/answers', survey, {
    by: 'f0.q',
    format: 'csv',
    safe: 'true',
  });
  expect(text).toBe(
    "column,shortcode,question_ref,value,group,records\nf0.q,f0,q,'=1+1,'=1+1,1\nf0.q,f0,q,a,a,1\n",
  );
});

test('answers that are too large are refused, and the database builds little more than 4 MiB', async () => {
  const columns = {
    userid: 'n::text',
    question_ref: `'q' || n % 3`,
    response: `repeat('é', 1000) || n`,
    metadata: `jsonb_build_object('long', repeat('é', 1000) || n % 20)`,
  };
  const survey = await createBulkSurvey(account, { rows: 2400, forms: 1, columns });
  const message =
    'This selection has too many answers to return at once. Narrow it with column, shortcode or question_ref, lower top, or leave out by.';
  const formVersions = survey.forms;
  const selection = {
    survey: { accountId: account.id, name: survey.name, limits: null },
    formVersions,
  };
  for (const parameters of [
    { format: 'json' },
    { format: 'csv' },
    { format: 'json', by: 'metadata.long' },
    { format: 'csv', by: 'metadata.long' },
  ] as const) {
    const found = await get('/responses/answers', survey, { top: 1000, ...parameters });
    expectError(found, 400, 'export_too_large', message);
    const { text, params } = render(answersQuery(selection, { top: 1000, ...parameters }).text);
    const { rows } = await withClient((client) =>
      client.query({ text, values: [...params], rowMode: 'array' }),
    );
    const bytes = Buffer.byteLength(JSON.stringify(rows));
    expect(bytes).toBeGreaterThan(4 * 2 ** 20);
    expect(bytes).toBeLessThan(4.2 * 2 ** 20);
  }
  const { text } = await get('/responses/answers', survey, { top: 600, by: 'metadata.long' });
  const { groups, questions } = JSON.parse(text) as {
    groups: { value: string }[];
    questions: { values: unknown[]; groups: number[] }[];
  };
  // Values that look equal once they are cut are different ones.
  expect(new Set(groups.map(({ value }) => value))).toEqual(new Set([`${'é'.repeat(1000)}…`]));
  expect(questions.map(({ values }) => values.length)).toEqual([600, 600, 600]);
  expect(questions[0]?.groups).toHaveLength(20);
});

test('questions with the same index are in the order of their bytes, and the last of responses at the same time is that of the file', async () => {
  const rows = ['a', 'B'].map((name) => ({
    question_ref: name,
    question_idx: 0,
    metadata: `{"m": "${name}"}`,
  }));
  const survey = await storeSurvey(rows, { account });
  const file = parseCsv((await get('/responses/csv', survey)).bytes);
  expect(file.map((row) => row['question_ref'])).toEqual(['a', 'B']);
  const summary = await get('/responses/summary', survey, { stops: 'true' });
  expect(JSON.parse(summary.text)).toMatchObject({
    stops: [
      { question_ref: 'B', participants: 1 },
      { question_ref: 'a', participants: 0 },
    ],
  });
  const answers = await get('/responses/answers', survey, { by: 'metadata.m' });
  expect(JSON.parse(answers.text)).toMatchObject({
    groups: [{ value: 'B', records: 1 }],
    questions: [{ column: 'f0.B' }, { column: 'f0.a' }],
  });
});

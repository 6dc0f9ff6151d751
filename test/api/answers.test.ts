import { expect, test } from 'vitest';
import { createAccount, createSurvey, addResponses } from '../support/data.ts';
import { expectError, get } from './requests.ts';

const account = await createAccount();

/** A survey with a participant for each of some answers to one question. */
async function surveyOf(answers: readonly string[]) {
  const survey = await createSurvey(account);
  await addResponses(
    survey,
    answers.map((response, i) => ({ userid: `u${i}`, question_ref: 'q', response, parent: null })),
  );
  return survey;
}

interface Numbers {
  readonly records: number;
  readonly min: string;
  readonly q1: string;
  readonly median: string;
  readonly q3: string;
  readonly max: string;
  readonly sum: string;
  readonly step: string | null;
  readonly bins: readonly { readonly from: string; readonly records: number }[];
}

async function numbersOf(answers: readonly string[]): Promise<Numbers | null> {
  const { text } = await get('/responses/answers', await surveyOf(answers), { numbers: 'true' });
  const { questions } = JSON.parse(text) as { questions: { numbers: Numbers | null }[] };
  return questions[0]?.numbers ?? null;
}

test('numbers of answers have exact quartiles, and bins whose width is 1, 2 or 5 times a power of ten', async () => {
  const { bins, ...rest } = (await numbersOf(['-3', '-1', '2', '4'])) as Numbers;
  expect(rest).toEqual({
    records: 4,
    min: '-3',
    q1: '-1.5',
    median: '0.5',
    q3: '2.5',
    max: '4',
    sum: '2',
    step: '1',
  });
  expect(bins).toHaveLength(8);
  for (const [answers, step, count] of [
    [['0.1', '0.15', '0.2'], '0.01', 11],
    [['1', '2', '3', '4', '5'], '1', 5],
    [['0.5', '20'], '2', 11],
    [['999999999999999', '-999999999999999'], '100000000000000', 20],
    [['-0', '0.00'], null, 1],
    [['0.00000000000001', '0.00000000000003', '007'], '0.00000000000001', 3],
    [['100', '100.0'], null, 1],
  ] as const) {
    const numbers = await numbersOf(answers);
    expect([answers, numbers?.step, numbers?.bins.length]).toEqual([answers, step, count]);
  }
  expect((await numbersOf(['999999999999999', '-999999999999999']))?.bins[0]?.from).toBe(
    '-1000000000000000',
  );
  expect((await numbersOf(['-0', '100.0']))?.min).toBe('0');
  expect(await numbersOf(['0.000000000000001', '007', '1e3', '+1', '.5', ''])).toBeNull();
});

test('answers by an arm of more than 10 hashes, or by what is no column, are refused', async () => {
  const survey = await surveyOf(['a']);
  const message =
    'by must be the name of a question’s column in the wide file of this survey, metadata.<key>, or arm.seed_N or arm.seed_N_M, with N from 1 to 1000000 and M from 1 to 10.';
  for (const by of ['arm.seed_2_11', 'arm.', 'arm.seed', 'userid', 'metadata', '', 'q', 'f0.Q'])
    expectError(await get('/responses/answers', survey, { by }), 400, 'invalid_parameter', message);
  expectError(
    await get('/responses/answers', survey, { numbers: 'true', format: 'csv' }),
    400,
    'invalid_parameter',
    'numbers can only be used with format=json.',
  );
});

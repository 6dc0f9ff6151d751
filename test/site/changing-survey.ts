import { fetchApi, query } from '../support/api.ts';
import { type TestResponse, type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import type { Selection } from './home.ts';

/* A survey, an older file of it, and what changes meanwhile. */

/** Days in March 2026, each with some responses that tie in time. */
const DAYS = 6;
const PER_DAY = 8;
export const day = (number: number, time = '00:00:00Z') => `2026-03-${String(number).padStart(2, '0')}T${time}`;

export function responseAt(i: number, number: number): TestResponse {
  return {
    form: i % 4,
    userid: i % 2 === 0 ? 'Åsa, "7"' : `user ${i}`,
    question_ref: `q${i % 3}`,
    question_text: 'Line 1?\nLine 2',
    response: i === 1 ? '-5' : `Answer ${i}, \n"🌍"`,
    translated_response: [null, '', 'translated'][i % 3] ?? null,
    pageid: i % 4 === 0 ? '' : null,
    metadata:
      [null, 'null', '{"a": {"ad_id": 7}, "ad_id": 7.10, "é": "\\"x\\""}', '{"ad_id": {"a": [1]}, "é": null}'][i % 4] ??
      null,
    timestamp: day(number, i < 4 ? '00:00:00Z' : `23:59:59.99${i}047Z`),
  };
}

/** A survey with two versions of each of two forms. */
export async function createChanging(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'Health & Habits 2026', 4);
  const numbers = Array.from({ length: DAYS }, (_, i) => 2 * i + 2); // every other day
  await addResponses(
    survey,
    numbers.flatMap((number) => Array.from({ length: PER_DAY }, (_, i) => responseAt(i, number))),
  );
  return survey;
}

/** The CSV file of a survey. */
export const fileOf = async ({ name, account }: TestSurvey, selection: Selection = {}) =>
  (await fetchApi(`/responses/csv${query({ survey: name, ...selection })}`, account)).bytes;

/** A survey, its old file, and a late response on each of two days that are not neighbours. */
export async function createOutdated(): Promise<{ survey: TestSurvey; old: Buffer }> {
  const survey = await createChanging();
  const old = await fileOf(survey);
  await addResponses(survey, [
    { ...responseAt(0, 4), question_ref: 'late' },
    { ...responseAt(0, 10), question_ref: 'late', response: 'x'.repeat(200_000) },
  ]);
  return { survey, old };
}

/** Changes the survey. @param text SQL, in which `{forms}` stands for a condition on the forms */
export const change = ({ forms }: TestSurvey, text: string) =>
  sql(text.replace('{forms}', 'surveyid = any($1)'), [forms.map(({ id }) => id)]);

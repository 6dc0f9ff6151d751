import { expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { createPagedSurvey, withFaultyService } from './service.ts';

// A form version that leaves the account, or the survey, while a request reads it.

const service = withFaultyService();

const THEIRS = 'of its new owner';

/** Gives the first form version to another account, which stores responses at once. */
async function move(survey: TestSurvey): Promise<void> {
  const { id } = await createAccount();
  await sql('update surveys set userid = $2 where id = $1', [survey.forms[0]?.id, id]);
  await addResponses(
    survey,
    ['2020-01-01T00:00:00Z', '2026-03-01T00:10:00Z', '2030-01-01T00:00:00Z'].map((timestamp) => ({
      timestamp,
      response: THEIRS,
      question_ref: THEIRS,
    })),
  );
}

/** Calls `change` before the `n`th query of responses, counted from 0, reaches the database. */
function changeBefore(n: number, change: () => Promise<unknown>): void {
  let read = 0;
  let changed: Promise<unknown> | undefined;
  service.proxy.inject(async ({ query: text }: Exchange) => {
    if (!text.includes('from responses') || read++ < n) return;
    await (changed ??= change());
  });
}

test.each([
  ['/responses', { pageSize: 1000, count: 'true' }],
  ['/responses', { pageSize: 1000, question_ref: 'q0' }],
  ['/responses/csv', { count: 'true' }],
  ['/responses/csv', { layout: 'wide', value: 'label' }],
  ['/responses/csv', { layout: 'wide', repeats: 'drop' }],
  ['/responses/ndjson', {}],
  ['/responses/questions', {}],
  ['/responses/summary', { repeats: 'drop' }],
  ['/responses/digests', {}],
])('%s?%j has no response to a form version that left the account after it was found', async (path, parameters) => {
  const survey = await createSurvey(await createAccount(), undefined, 3);
  const rows = Array.from({ length: 30 }, (_, i) => ({ form: i % 3, question_ref: `q${i % 6}`, userid: `u${i}` }));
  await addResponses(survey, rows);
  const read = () => fetchApi(path + query({ survey: survey.name, ...parameters }), { key: survey.account.key });
  changeBefore(0, () => move(survey));
  const { status, text, headers } = await read();
  service.proxy.inject();
  const afterwards = await read();
  expect([status, headers.get('X-Total-Count'), text]).toEqual([
    200,
    afterwards.headers.get('X-Total-Count'),
    afterwards.text,
  ]);
  expect(text).not.toContain(THEIRS);
});

test.each([
  ['another account', move],
  [
    'another survey',
    async (survey: TestSurvey) => {
      await sql(`update surveys set survey_name = 'x' where id = $1`, [survey.forms[0]?.id]);
      await addResponses(survey, [{ timestamp: '2030-01-01T00:00:00Z', response: THEIRS }]);
    },
  ],
])('an export ends properly, without the rows that are stored after a form version moves to %s', async (_, change) => {
  const survey = await createPagedSurvey();
  const linesOf = async (forms: TestSurvey['forms']) => String(await copyResponses({ ...survey, forms })).split('\n');
  const [whole, others] = [await linesOf(survey.forms), await linesOf(survey.forms.slice(1))];
  changeBefore(4, () => change(survey));
  const { complete, bytes } = await readExport(await beginExport(survey));
  const lines = String(bytes).split('\n');
  expect(complete).toBe(true);
  expect(lines.filter((line) => others.includes(line))).toEqual(others);
  expect(lines.filter((line) => !whole.includes(line))).toEqual([]);
  expect(lines.length).toBeLessThan(whole.length);
});

test('a workbook with a text that is too long, stored after the texts were measured, is aborted', async () => {
  const survey = await createSurvey(await createAccount());
  const rows = Array.from({ length: 600 }, () => ({})); // more than the first page
  await addResponses(survey, rows);
  const tooLong = { timestamp: '2030-01-01T00:00:00Z', response: 'a'.repeat(32_768) };
  let stored: Promise<unknown> | undefined;
  service.proxy.inject(async (exchange) => {
    if (exchange.query.includes('select parent_surveyid')) await (stored ??= addResponses(survey, [tooLong]));
  });
  const response = await beginExport(survey, { file: 'xlsx' });
  expect(response.statusCode).toBe(200);
  expect((await readExport(response)).complete).toBe(false);
});

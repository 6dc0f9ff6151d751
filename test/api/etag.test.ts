import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';

let survey: TestSurvey;
let without: TestSurvey;
beforeAll(async () => {
  survey = await createSurvey(await createAccount());
  await addResponses(survey, [{}, {}, {}]);
  without = { ...survey, account: await createAccount() };
});

const pathOf = (path: string, parameters: Record<string, string | number> = {}) =>
  path + query({ survey: survey.name, ...parameters });

/** In capitals, so that the local runtime does not label an empty body as compressed. */
const GZIP = { 'Accept-Encoding': 'GZIP' };

// test/api/model.test.ts checks that a tag changes exactly when the body does, and belongs to one account.
test.each<[what: string, path: () => string, owner: () => TestSurvey]>([
  ['a full page', () => pathOf('/responses', { pageSize: 3 }), () => survey],
  ['the last page', () => pathOf('/responses'), () => survey],
  ['an empty page', () => pathOf('/responses', { since: '2030-01-01' }), () => survey],
  ['digests', () => pathOf('/responses/digests'), () => survey],
  ['the list of surveys', () => '/surveys', () => survey],
  ['an empty list of surveys', () => '/surveys', () => without],
])('a client that has %s gets 304, with the headers of a 200 except those of a body', async (_, path, owner) => {
  const { key } = owner().account;
  const { headers: plain } = await fetchApi(path(), { key, headers: { 'Accept-Encoding': 'identity' } });
  const etag = plain.get('ETag') ?? '';
  expect(etag).toMatch(/^W\/"[\da-f]{32}"$/);
  for (const method of ['GET', 'HEAD']) {
    const response = await fetchApi(path(), { key, method, headers: { ...GZIP, 'If-None-Match': etag } });
    const { headers } = response;
    expect([response.status, response.bytes.length, headers.get('ETag')]).toEqual([304, 0, etag]);
    for (const name of ['Vary', 'Cache-Control', 'Access-Control-Allow-Origin', 'X-Content-Type-Options'])
      expect([name, headers.get(name)]).toEqual([name, plain.get(name)]);
    expect([headers.get('Content-Type'), headers.get('Content-Encoding')]).toEqual([null, null]);
  }
});

test('a survey that has lost its responses is an error, whatever the client has', async () => {
  const emptied = await createSurvey(survey.account);
  await addResponses(emptied, [{}]);
  await sql('delete from responses where surveyid = $1', [emptied.forms[0]?.id]);
  const headers = { 'If-None-Match': '*' };
  expect((await fetchApi(`/responses${query({ survey: emptied.name })}`, { ...survey.account, headers })).status).toBe(
    500,
  );
});

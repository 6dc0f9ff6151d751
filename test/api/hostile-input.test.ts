import { beforeAll, describe, expect, test } from 'vitest';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { sendRaw } from '../support/raw-http.ts';
import { SPECIAL_NAMES } from '../support/special-names.ts';
import { stackAddress } from '../support/stack-address.ts';

const repeated = (pair: string) => Array.from({ length: 1000 }, () => pair).join('&');
const numbered = (name: string) => Array.from({ length: 1000 }, (_, i) => `${name}=${i}`).join('&');
const tokenWith = (escape: string) =>
  Buffer.from(`[1,"2026-03-01T00:00:00Z","${escape}","","00000000-0000-4000-8000-000000000000"]`).toString('base64url');
const NONE = 'No responses were found for survey: ';

let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, 'fuzzed'), [{}, {}]);
});

describe('responds as documented to', () => {
  test.each<[what: string, path: string, status: number, text: string]>([
    ['a NUL as the survey', '/responses?survey=%00', 500, NONE],
    ['a NUL after the survey', '/responses?survey=fuzzed%00', 500, NONE],
    ['30,000 characters', `/responses/csv?survey=${'x'.repeat(30_000)}`, 500, NONE],
    ['two surveys', '/responses?survey=fuzzed&survey=fuzzed', 400, 'survey must be given once'],
    ['1,000 surveys', `/responses?${repeated('survey=fuzzed')}`, 400, 'survey must be given once'],
    ['1,000 page sizes', `/responses?survey=fuzzed&${repeated('pageSize=1')}`, 400, 'pageSize must be given once'],
    ['1,000 participants', `/responses?survey=fuzzed&${numbered('userid')}`, 400, 'userid must be text'],
    ['1,000 unknown parameters', `/responses?survey=fuzzed&${numbered('x')}`, 200, '"token"'],
    ['a NUL as the participant', '/responses?survey=fuzzed&userid=%00', 400, 'userid must be text'],
    ['a NUL in a token', `/responses?survey=fuzzed&after=${tokenWith('\\u0000')}`, 400, 'after must be'],
    ['half a pair in a token', `/responses?survey=fuzzed&after=${tokenWith('\\ud800')}`, 400, 'after must be'],
    ['an escaped slash', '/responses%2fcsv?survey=fuzzed', 404, 'error'],
    ['an escaped parent folder', '/responses/..%2fsurveys', 404, 'error'],
  ])('%s', async (_, path, status, text) => {
    const headers = ['Authorization: Bearer KEY'];
    const request = { method: 'GET', target: `/api/v1${path}`, version: '1.1', headers, body: '' };
    const response = await sendRaw(new URL(stackAddress().directOrigin), request, account.key);
    expect([response.status, response.text.slice(0, 2000)]).toEqual([status, expect.stringContaining(text)]);
  });
});

/** Each kind of file: its path, its `layout`, and its text for the response `mine` to the form `f0`. */
const FILES = [
  ['/responses/csv', undefined, ',mine,'],
  ['/responses/csv', 'wide', ',mine\n'],
  ['/responses/ndjson', undefined, '"response":"mine"'],
  ['/responses/form-data', undefined, ',f0,'],
] as const;

test('finds surveys whose names are special in other contexts', async () => {
  const owner = await createAccount();
  const { key, email } = owner;
  const expectNone = async (survey: string) => {
    const { status, text } = await fetchApi(`/responses/csv${query({ survey })}`, { key });
    expect([status, text]).toEqual([
      500,
      errorBody(`No responses were found for survey: ${survey} for user: ${email}`),
    ]);
  };
  for (const survey of SPECIAL_NAMES) {
    await expectNone(survey);
    await addResponses(await createSurvey(owner, survey), [{ response: 'mine' }]);
    for (const [path, layout, contents] of FILES) {
      const { status, headers, text } = await fetchApi(path + query({ survey, layout }), { key });
      expect([status, headers.get('X-Evil')]).toEqual([200, null]);
      expect(headers.get('Content-Disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
      expect(text).toContain(contents);
    }
  }
  await expectNone(SPECIAL_NAMES.join(''));
  const listed = JSON.parse((await fetchApi('/surveys', { key })).text) as { survey_name: string }[];
  expect(listed.map(({ survey_name }) => survey_name).toSorted()).toEqual(SPECIAL_NAMES.toSorted());
});

import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { SPECIAL_NAMES } from '../support/awkward-text.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { sendRaw } from '../support/raw-http.ts';
import { stackAddress } from '../support/stack-address.ts';

const repeated = (pair: string) => Array.from({ length: 1000 }, () => pair).join('&');
const numbered = (name: string) => Array.from({ length: 1000 }, (_, i) => `${name}=${i}`).join('&');
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, 'fuzzed'), [{}, {}]);
});

test.each<[what: string, path: string, status: number, text: string]>([
  ['30,000 characters', `/responses/csv?survey=${'x'.repeat(30_000)}`, 500, 'No responses were found for survey: '],
  ['1,000 page sizes', `/responses?survey=fuzzed&${repeated('pageSize=1')}`, 400, 'pageSize must be given once'],
  ['1,000 participants', `/responses?survey=fuzzed&${numbered('userid')}`, 400, 'userid must be text'],
  ['1,000 unknown parameters', `/responses?survey=fuzzed&${numbered('x')}`, 200, '"token"'],
  ['an escaped slash', '/responses%2fcsv?survey=fuzzed', 404, 'error'],
  ['an escaped parent folder', '/responses/..%2fsurveys', 404, 'error'],
])('responds as documented to %s', async (_, path, status, text) => {
  const headers = ['Authorization: Bearer KEY'];
  const request = { method: 'GET', target: `/api/v1${path}`, version: '1.1', headers, body: '' };
  const response = await sendRaw(new URL(stackAddress().directOrigin), request, account.key);
  expect([response.status, response.text.slice(0, 2000)]).toEqual([status, expect.stringContaining(text)]);
});

test('finds surveys whose names are special in other contexts', async () => {
  const owner = await createAccount();
  for (const survey of SPECIAL_NAMES) {
    await addResponses(await createSurvey(owner, survey), [{ response: 'mine' }]);
    const { status, headers, text } = await fetchApi(`/responses/csv${query({ survey })}`, owner);
    expect([status, headers.get('X-Evil')]).toEqual([200, null]);
    expect(headers.get('Content-Disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
    expect(text).toContain(',mine,');
  }
  const listed = JSON.parse((await fetchApi('/surveys', owner)).text) as { survey_name: string }[];
  expect(listed.map(({ survey_name }) => survey_name).toSorted()).toEqual(SPECIAL_NAMES.toSorted());
});

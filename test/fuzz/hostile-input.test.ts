import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, errorBody, query } from '../support/api.ts';
import { pgText } from '../support/arbitraries.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { TIMEOUT_MS, effort } from './effort.ts';
import { expectHarmless } from './harmless.ts';
import { bytesOf, hostileRequest } from './hostile-requests.ts';
import { sendRaw } from './raw-http.ts';
import { withService } from './service.ts';

const surveyName = fc.oneof(
  pgText.filter((text) => text !== ''),
  fc.constantFrom(
    'a\r\nX-Evil: 1',
    '"; filename="evil',
    "a'; --",
    '../../etc/passwd',
    '%0d%0a',
    '%2F',
    'a&b=c',
    'a+b #c',
  ),
  fc.constantFrom(' ', '\u202eexe.csv', 'x'.repeat(2500), '漢'.repeat(800), '{"error":{}}', '$1', '__proto__', 'null'),
);

/** Each with the parameter `layout`, and what is in it of a response `mine` to the form `f0`. */
const FILES = [
  ['/responses/csv', undefined, ',mine,'],
  ['/responses/csv', 'wide', ',mine\n'],
  ['/responses/ndjson', undefined, '"response":"mine"'],
  ['/responses/form-data', undefined, ',f0,'],
] as const;

const PLAIN = { method: 'GET', version: '1.1', headers: ['Authorization: Bearer KEY'], body: '' };
const tokenWith = (escape: string) =>
  Buffer.from(`[1,"2026-03-01T00:00:00Z","${escape}","","00000000-0000-4000-8000-000000000000"]`).toString('base64url');

const service = withService();
const answered = new Map<string, number>();
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  const survey = await createSurvey(account, 'fuzzed', 2);
  await addResponses(survey, [{}, { form: 1, response: '=1' }, { userid: 'a', metadata: '{"ad_id": "a\\"b"}' }]);
});
afterAll(() => {
  const counts = [...answered].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([who, count]) => `${count} × ${who}`);
  console.info(`hostile requests: ${counts.join(', ')}`);
});

test(
  'what is sent may be anything: the answer is one of the contract’s, and says nothing of the inside',
  { timeout: TIMEOUT_MS },
  async () => {
    const property = fc.asyncProperty(hostileRequest, async (request) => {
      const answer = await sendRaw(service.stack.worker.directUrl, bytesOf(request, account.key), request.method);
      const refused = await expectHarmless(request, answer);
      const who = `${answer.status}${refused ? ' by workerd' : ''}`;
      answered.set(who, (answered.get(who) ?? 0) + 1);
    });
    await fc.assert(property, effort(1500));
    const logged = answeredByService() + 1; // and /openapi.json, which answers are held against
    await expect.poll(() => linesOf(service.stack.worker.log()).length, { timeout: 10_000 }).toBe(logged);
    const { status } = await ask(`/responses${query({ survey: 'fuzzed' })}`, { key: account.key });
    expect(status).toBe(200);
  },
);

const repeated = (pair: string) => Array.from({ length: 1000 }, () => pair).join('&');
const numbered = (name: string) => Array.from({ length: 1000 }, (_, i) => `${name}=${i}`).join('&');
const NONE = 'No responses were found for survey: ';
test.each<[what: string, path: string, status: number, text: string]>([
  ['a NUL for a survey', '/responses?survey=%00', 500, NONE],
  ['a NUL behind a survey', '/responses?survey=fuzzed%00', 500, NONE],
  ['half a surrogate pair', '/responses?survey=%ed%a0%80', 500, NONE],
  ['30,000 characters', `/responses/csv?survey=${'x'.repeat(30_000)}`, 500, NONE],
  ['two surveys', '/responses?survey=fuzzed&survey=fuzzed', 400, 'survey must be given once'],
  ['1,000 surveys', `/responses?${repeated('survey=fuzzed')}`, 400, 'survey must be given once'],
  ['1,000 page sizes', `/responses?survey=fuzzed&${repeated('pageSize=1')}`, 400, 'pageSize must be given once'],
  ['1,000 participants', `/responses?survey=fuzzed&${numbered('userid')}`, 400, 'userid must be text'],
  ['1,000 unknown parameters', `/responses?survey=fuzzed&${numbered('x')}`, 200, '"token"'],
  ['a NUL for a participant', '/responses?survey=fuzzed&userid=%00', 400, 'userid must be text'],
  ['a NUL in a token', `/responses?survey=fuzzed&after=${tokenWith('\\u0000')}`, 400, 'after must be'],
  ['half a pair in a token', `/responses?survey=fuzzed&after=${tokenWith('\\ud800')}`, 400, 'after must be'],
  ['an escaped slash', '/responses%2fcsv?survey=fuzzed', 404, 'error'],
  ['an escaped way up', '/responses/..%2fsurveys', 404, 'error'],
])('%s', async (_, path, status, text) => {
  const request = { ...PLAIN, target: `/api/v1${path}` };
  const answer = await sendRaw(service.stack.worker.directUrl, bytesOf(request, account.key), request.method);
  expect([answer.status, answer.text.slice(0, 2000)]).toEqual([status, expect.stringContaining(text)]);
});

test(
  'a survey may have any name: it is found by it, and it breaks neither a header nor an error',
  { timeout: TIMEOUT_MS },
  async () => {
    const property = fc.asyncProperty(fc.uniqueArray(surveyName, { minLength: 4, maxLength: 4 }), async (names) => {
      // Each try has an account of its own: a name may have come before.
      const owner = await createAccount();
      await Promise.all(names.map((survey) => expectNone(survey, owner)));
      await Promise.all(names.map((survey) => expectFiles(survey, owner)));
      await expectNone(names.join(''), owner);
      const listed = JSON.parse((await ask('/surveys', { key: owner.key })).text) as { survey_name: string }[];
      expect(listed.map(({ survey_name }) => survey_name).toSorted()).toEqual(names.toSorted());
    });
    await fc.assert(property, effort(15));
  },
);

test('whatever was sent, the log says no more of it than it should', async () => {
  const lines = linesOf(service.stack.worker.log());
  expect(lines.filter((line) => !line.startsWith('{"event":"request",'))).toEqual([]);
  expect(lines.filter((line) => line.includes('"end":"failed"'))).toEqual([]);
  expect(lines.filter((line) => /sres_|fuzzed|X-Evil|@example/.test(line))).toEqual([]);
});

const linesOf = (log: string) => log.split('\n').slice(0, -1);

/** Those that workerd did not refuse before the service saw them. */
function answeredByService(): number {
  const byService = [...answered].filter(([who]) => !who.includes('workerd'));
  return byService.reduce((sum, [, times]) => sum + times, 0);
}

async function expectNone(survey: string, { key, email }: TestAccount): Promise<void> {
  const { status, text } = await ask(`/responses/csv${query({ survey })}`, { key });
  expect([status, text]).toEqual([500, errorBody(`No responses were found for survey: ${survey} for user: ${email}`)]);
}

async function expectFiles(survey: string, owner: TestAccount): Promise<void> {
  await addResponses(await createSurvey(owner, survey), [{ response: 'mine' }]);
  for (const [path, layout, contents] of FILES) {
    const { status, headers, text } = await ask(path + query({ survey, layout }), { key: owner.key });
    expect([status, headers.get('X-Evil')]).toEqual([200, null]);
    expect(headers.get('Content-Disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
    expect(text).toContain(contents);
  }
}

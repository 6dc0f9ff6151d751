import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { pgText } from '../support/arbitraries.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { TIMEOUT_MS, checkProperty } from './effort.ts';
import { expectHarmless } from './harmless.ts';
import { bytesOf, hostileRequest } from './hostile-requests.ts';
import { sendRaw } from './raw-http.ts';
import { withService } from './service.ts';
import { SPECIAL_NAMES, expectFoundByName } from './survey-names.ts';

const service = withService();
let account: TestAccount;

beforeAll(async () => {
  account = await createAccount();
  const survey = await createSurvey(account, 'fuzzed', 2);
  await addResponses(survey, [{}, { form: 1, response: '=1' }, { userid: 'a', metadata: '{"ad_id": "a\\"b"}' }]);
});

test(
  'every response to a hostile request is documented and reveals no internals',
  { timeout: TIMEOUT_MS },
  async () => {
    const statuses = new Map<string, number>();
    let served = 0;
    await checkProperty(hostileRequest, async (request) => {
      const response = await sendRaw(service.stack.worker.directUrl, bytesOf(request, account.key), request.method);
      const isRefused = await expectHarmless(request, response);
      if (!isRefused) served++;
      const status = `${response.status}${isRefused ? ' by workerd' : ''}`;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    const counts = [...statuses]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, count]) => `${count} × ${status}`);
    console.info(`hostile requests: ${sum(statuses)} checks passed (${counts.join(', ')})`);

    const expected = served + 1; // plus /openapi.json, which responses are checked against
    await expect.poll(() => linesOf(service.stack.worker.log()).length).toBe(expected);
    const { status } = await fetchApi(`/responses${query({ survey: 'fuzzed' })}`, { key: account.key });
    expect(status).toBe(200);
  },
);

test('a survey is found by its name, whatever the name', { timeout: TIMEOUT_MS }, async () => {
  const name = fc.oneof(
    pgText.filter((text) => text !== ''),
    fc.constantFrom(...SPECIAL_NAMES),
  );
  let passed = 0;
  await checkProperty(fc.uniqueArray(name, { minLength: 4, maxLength: 4 }), async (names) => {
    await expectFoundByName(names);
    passed += names.length;
  });
  console.info(`survey names: ${passed} checks passed`);
});

test('the log has no keys, survey names or headers', () => {
  const lines = linesOf(service.stack.worker.log());
  expect(lines.filter((line) => !line.startsWith('{"event":"request",'))).toEqual([]);
  expect(lines.filter((line) => line.includes('"end":"failed"'))).toEqual([]);
  expect(lines.filter((line) => /sres_|fuzzed|X-Evil|@example/.test(line))).toEqual([]);
});

const linesOf = (log: string) => log.split('\n').slice(0, -1);
const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);

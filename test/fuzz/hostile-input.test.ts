import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, ask, origin, query } from '../support/api.ts';
import { description, expectAsDescribed } from '../support/conformance.ts';
import { type TestAccount, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { pgText } from '../support/arbitraries.ts';
import { TIMEOUT_MS, effort } from './effort.ts';
import { type HostileRequest, bytesOf, hostileRequest } from './hostile-requests.ts';
import { sendRaw } from './raw-http.ts';
import { withService } from './service.ts';

/** What only the inside of the service knows. */
const INTERNAL =
  /at file:|node_modules|neon|\bselect |\bfrom surveys|sqlstate|api_keys|postgres(?:ql)?:\/\/|sres_\w{40}|[0-9a-f]{64}|\n\s+at \w|\.[jt]s:\d/i;

const service = withService();
let account: TestAccount;
let sent = 0;
beforeAll(async () => {
  account = await createAccount();
  await addResponses(await createSurvey(account, 'fuzzed', 2), [{}, { form: 1, response: '=1' }, { userid: 'a' }]);
});
afterAll(() => console.info(`${sent} hostile requests were answered`));

test(
  'whatever is sent, the answer is one of the contract or the runtime’s refusal',
  { timeout: TIMEOUT_MS },
  async () => {
    const property = fc.asyncProperty(hostileRequest, async (request) => {
      const answer = await sendRaw(bytesOf(request, account.key));
      sent += 1;
      await expectHarmless(request, answer);
    });
    await fc.assert(property, effort(2000));
    const { status } = await ask(`/responses${query({ survey: 'fuzzed' })}`, { key: account.key });
    expect([status, service.stack.worker.log()]).toEqual([200, '']);
  },
);

test(
  'a survey of any name can be exported, and its name breaks neither a header nor an error',
  { timeout: TIMEOUT_MS },
  async () => {
    const name = fc.oneof(
      pgText.filter((text) => text !== ''),
      fc.constantFrom(
        'a\r\nX-Evil: 1',
        '"; filename="evil',
        '../../etc',
        'x'.repeat(4000),
        '{"error":{}}',
        '%0d%0a',
        "'; --",
      ),
    );
    const used = new Set<string>();
    const property = fc.asyncProperty(name, async (survey) => {
      const nobody = await ask(`/responses/csv${query({ survey: `${survey} none` })}`, { key: account.key });
      expect([nobody.status, JSON.parse(nobody.text)]).toEqual([
        500,
        { error: { message: `No responses were found for survey: ${survey} none for user: ${account.email}` } },
      ]);
      if (!used.has(survey)) await addResponses(await createSurvey(account, survey), [{ response: 'of this name' }]);
      used.add(survey);
      for (const path of ['/responses/csv', '/responses/ndjson', '/responses/form-data']) {
        const answer = await ask(path + query({ survey }), { key: account.key });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('Content-Disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
        expect(answer.headers.has('X-Evil')).toBe(false);
      }
      sent += 4;
    });
    await fc.assert(property, effort(60));
  },
);

async function expectHarmless({ method, target }: HostileRequest, answer: Answer | undefined): Promise<void> {
  if (!answer) throw new Error('there was no HTTP answer');
  const { status, headers, text } = answer;
  const all = `${[...headers].join('\n')}\n${status < 400 ? '' : text}`;
  expect(all).not.toMatch(INTERNAL);
  expect(headers.has('X-Evil')).toBe(false);
  // What workerd refuses does not reach the Worker.
  if (!headers.has('X-Request-Id')) {
    expect(`${status} ${text}`).toMatch(/^(?:4\d\d|50[15]) /);
    return;
  }
  if (status >= 400 && method !== 'HEAD') {
    const { error, ...others } = JSON.parse(text) as { error: { message: string } };
    expect([others, Object.keys(error), typeof error.message]).toEqual([{}, ['message'], 'string']);
    expect(headers.get('Content-Type')).toMatch(/^application\/json/);
    if (status >= 500) expect(error.message).toMatch(/^No responses were found for survey: /);
  }
  expect([200, 204, 304, 400, 401, 404, 405, 500]).toContain(status);
  const path = target.replace(/\?.*$/s, '');
  const known = path in (await description(origin())).paths;
  if (known && status === 200) await expectAsDescribed(origin(), { method, path }, answer);
}

import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { type Answer, type Page, ask, errorBody } from '../support/api.ts';
import { type TestAccount, addResponses, createAccount, createSurvey, storeKey } from '../support/data.ts';
import { TIMEOUT_MS, effort } from './effort.ts';
import { type ModelRow, type Wish, visibleTo } from './model.ts';
import { withService } from './service.ts';

withService();

const SURVEYS = ['shared', 'also shared', 'of the second only'];
const TIMES = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'];
const accounts: TestAccount[] = [];
const rows: ModelRow[] = [];
const refused: string[] = [];

/** Alike in all that a caller can name, and interleaved in every order; `response` alone tells the rows apart. */
beforeAll(async () => {
  for (const owner of [0, 1]) {
    const account = await createAccount();
    accounts.push(account);
    const [revoked, expired] = [generateApiKey(), generateApiKey()];
    await storeKey(account.id, revoked, { revoked: new Date() });
    await storeKey(account.id, expired, { expires: new Date(Date.now() - 1000) });
    refused.push(revoked, expired, generateApiKey());
    for (const survey of SURVEYS.slice(0, owner + 2)) {
      const { forms } = await createSurvey(account, survey, 4);
      const own = Array.from({ length: 24 }, (_, i) => ({
        owner,
        survey,
        form: i % 4,
        surveyid: forms[i % 4]?.id ?? '',
        shortcode: forms[i % 4]?.shortcode ?? '',
        timestamp: TIMES[i % 3] ?? '',
        userid: `u${i % 2}`,
        question_ref: `q${10 + i}`,
        response: `${owner} ${survey} ${i}`,
      }));
      await addResponses({ name: survey, account, forms }, own);
      rows.push(...own);
    }
  }
});

const some = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const wish: fc.Arbitrary<Wish> = fc.record({
  survey: fc.constantFrom(...SURVEYS, 'nobody’s'),
  since: some(...TIMES),
  until: some(...TIMES),
  userid: some('u0', 'u1', 'u2'),
  shortcode: some('f0', 'f1', 'f2'),
  after: fc.option(fc.nat(200), { nil: undefined }),
  pageSize: fc.integer({ min: 1, max: 40 }),
});

/** A row's token, of whichever account. */
function tokenOf({ timestamp, userid, question_ref, surveyid }: ModelRow): string {
  return Buffer.from(JSON.stringify([1, timestamp, userid, question_ref, surveyid])).toString('base64url');
}

const names = (found: readonly object[]) => found.map((row) => (row as ModelRow).response);
const bodyOfPage = (text: string) => names((JSON.parse(text) as Page).responses);
const bodyOfLines = (text: string) =>
  names(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as ModelRow),
  );
/** An answer’s status, count and rows, or its error. */
const seen = ({ status, headers, text }: Answer, rowsOf: (text: string) => string[]) => [
  status,
  headers.get('X-Total-Count'),
  status === 200 ? rowsOf(text) : text,
];

test('an account gets its own rows, and what the model says of them', { timeout: TIMEOUT_MS }, async () => {
  const property = fc.asyncProperty(fc.nat(1), wish, async (owner, wanted) => {
    const account = accounts[owner];
    if (!account) throw new Error('there are two accounts');
    const from = wanted.after === undefined ? undefined : rows[wanted.after % rows.length];
    const { survey, since, until, userid, shortcode, pageSize } = wanted;
    const given = { survey, since, until, userid, shortcode, after: from && tokenOf(from), count: 'true' };
    const parameters = new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => !!pair[1]));
    const expected = visibleTo(rows, owner, wanted, from);
    const page = await ask(`/responses?${parameters.toString()}&pageSize=${pageSize}`, { key: account.key });
    const lines = await ask(`/responses/ndjson?${parameters.toString()}`, { key: account.key });
    const none = errorBody(`No responses were found for survey: ${survey} for user: ${account.email}`);
    expect([seen(page, bodyOfPage), seen(lines, bodyOfLines)]).toEqual(
      expected
        ? [
            [200, String(expected.length), names(expected.slice(0, pageSize))],
            [200, String(expected.length), names(expected)],
          ]
        : [
            [500, null, none],
            [500, null, none],
          ],
    );
  });
  await fc.assert(property, effort(500));
});

test('no ETag of one account’s answer is another’s', async () => {
  for (const path of ['/surveys', '/responses?survey=shared']) {
    const [mine, theirs] = await Promise.all(accounts.map(({ key }) => ask(path, { key })));
    for (const [etag, status] of [
      [mine?.headers.get('ETag'), 304],
      [theirs?.headers.get('ETag'), 200],
    ] as const) {
      expect(etag).toBeTruthy();
      const again = await ask(path, { key: accounts[0]?.key, headers: { 'If-None-Match': etag ?? '' } });
      expect(again.status).toBe(status);
    }
  }
});

test('a revoked, an expired and an unknown key get nothing, however often they ask', async () => {
  for (const key of [...refused, ...refused]) {
    const answer = await ask('/responses?survey=shared', { key });
    expect([answer.status, answer.text]).toEqual([401, errorBody('Invalid Token.')]);
  }
});

import { generateApiKey } from '../../src/auth/api-key.ts';
import { expect, test } from 'vitest';
import { ask, errorBody, query } from '../support/api.ts';
import { addResponses, copyResponses, createAccount, createSurvey, storeKey } from '../support/data.ts';
import { beginExport, readExport } from '../faults/service.ts';
import { withKeyService } from './service.ts';

const PER_KEY = 5;
const FAILURES = 5;
withKeyService({ limits: { KEY_LIMIT: PER_KEY, FAILURE_LIMIT: FAILURES } });

/** The simulated limiter counts in windows that are aligned to the clock: a test should begin in one and end in it. */
async function beginWindow(seconds: number): Promise<void> {
  const left = seconds * 1000 - (Date.now() % (seconds * 1000));
  if (left < 4000) await new Promise((resolve) => setTimeout(resolve, left + 50));
}

test('a key may make so many requests; the others of its account and those of other accounts are not affected', async () => {
  const account = await createAccount();
  const second = generateApiKey();
  await storeKey(account.id, second);
  const other = await createAccount();
  await beginWindow(10);
  for (let i = 0; i < PER_KEY; i++) expect((await ask('/surveys', { key: account.key })).status).toBe(200);
  const answer = await ask('/surveys', { key: account.key });
  expect([answer.status, answer.text]).toEqual([
    429,
    errorBody('Too many requests have been made with this key. Please try again in a few seconds.'),
  ]);
  expect(answer.headers.get('Retry-After')).toBe('10');
  expect((await ask('/surveys', { key: second })).status).toBe(200);
  expect((await ask('/surveys', { key: other.key })).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 10_100));
  expect((await ask('/surveys', { key: account.key })).status).toBe(200);
});

test('an export that runs is not cut when its key has used up its requests', async () => {
  const survey = await createSurvey(await createAccount());
  const response = 'x'.repeat(20_000);
  await addResponses(
    survey,
    Array.from({ length: 2000 }, () => ({ response })),
  );
  await beginWindow(10);
  const download = await beginExport(survey);
  const statuses = await Promise.all(
    Array.from(
      { length: 2 * PER_KEY },
      async () => (await ask(`/responses${query({ survey: survey.name })}`, { key: survey.account.key })).status,
    ),
  );
  expect(statuses).toContain(429);
  const { complete, bytes } = await readExport(download);
  expect({ complete, same: bytes.equals(await copyResponses(survey)) }).toEqual({ complete: true, same: true });
});

test('an address may fail to authenticate so many times; a valid key works from there all the same', async () => {
  const account = await createAccount();
  expect((await ask('/surveys', { key: account.key })).status).toBe(200);
  await beginWindow(60);
  const bad = [undefined, 'x', generateApiKey(), generateApiKey(), ''];
  for (const key of bad) expect((await ask('/surveys', { key })).status).toBe(401);
  for (const key of [undefined, 'x', generateApiKey()]) {
    const answer = await ask('/surveys', { key });
    expect([answer.status, answer.text]).toEqual([
      429,
      errorBody(
        'Too many requests without a valid key have come from your network. Please check the key and try again in a minute.',
      ),
    ]);
    expect(answer.headers.get('Retry-After')).toBe('60');
  }
  expect((await ask('/surveys', { key: account.key })).status).toBe(200);
});

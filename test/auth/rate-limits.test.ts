import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { createPagedSurvey } from '../faults/service.ts';
import { fetchApi, fetchService, errorBody } from '../support/api.ts';
import { copyResponses, createAccount, storeKey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import { MINUTE, authenticate, unknownKeys, withKeyService } from './service.ts';

const LIMIT = 5;
const service = withKeyService({ limits: { ACCOUNT_LIMIT: LIMIT, FAILURE_LIMIT: LIMIT } });

/** Waits until enough is left of the simulated limiter's window for one test. Windows have 10 seconds, aligned to the clock. */
async function beginWindow({ next = false } = {}): Promise<void> {
  const left = 10_000 - (Date.now() % 10_000);
  if (next || left < 6_000) await sleep(left + 50);
}

const count = (responses: readonly { status: number }[], status: number) =>
  responses.filter((response) => response.status === status).length;

const from = (address: string, more: Record<string, string> = {}) => ({ 'CF-Connecting-IP': address, ...more });
const LIMITED = [
  429,
  errorBody(
    'Too many requests from your network have an invalid or not recently used key. Check the key and try again in a few seconds.',
  ),
  '10',
];

test('the limit per address counts unknown keys before they reach the database, and missing and malformed keys', async () => {
  const flood = from('192.0.2.1');
  await beginWindow();
  const queries = service.countKeyQueries();
  const responses = await Promise.all(unknownKeys(40).map((key) => authenticate(key, flood)));
  expect([count(responses, 401), count(responses, 429)]).toEqual([LIMIT, 40 - LIMIT]);
  expect(queries.lookups).toBe(LIMIT);
  for (const key of [undefined, 'x', generateApiKey()]) {
    const { status, text, headers } = await authenticate(key, flood);
    expect([status, text, headers.get('Retry-After')]).toEqual(LIMITED);
  }
});

test('beyond the limit per address, /healthz sends no query to a database that wakes up', async () => {
  const flood = from('192.0.2.10');
  const { key } = await createAccount();
  const awake = Promise.withResolvers<void>();
  await beginWindow();
  let pings = 0;
  service.proxy.inject(({ query }) => {
    if (query.includes('api_key')) return undefined;
    pings++;
    return awake.promise;
  });
  const checks = Array.from({ length: 40 }, () => fetchService('/healthz', { headers: flood }));
  await expect.poll(() => pings).toBe(LIMIT);
  const { status, text, headers } = await fetchService('/healthz', { headers: flood });
  expect([status, text, headers.get('Retry-After')]).toEqual([
    429,
    errorBody('Too many requests from your network. Try again in a few seconds.'),
    '10',
  ]);
  expect((await authenticate(key, flood)).status).toBe(404); // counted apart
  awake.resolve();
  const responses = await Promise.all(checks);
  expect([count(responses, 200), count(responses, 429)]).toEqual([LIMIT, 40 - LIMIT]);
  expect((await fetchService('/healthz', { headers: from('192.0.2.11') })).status).toBe(200);
  expect(pings).toBe(LIMIT + 1);
});

// Their windows can be shared, because each test has its own account or address.
describe.concurrent('the limit per account', () => {
  test('counts the requests of all its keys, those of no other account, and ends after its period', async () => {
    const account = await createAccount();
    const second = generateApiKey();
    await storeKey(account.id, second);
    const other = await createAccount();
    const headers = from('192.0.2.6');
    await beginWindow();
    for (let i = 0; i < LIMIT; i++)
      expect((await fetchApi('/surveys', { key: i % 2 ? second : account.key, headers })).status).toBe(200);
    const refused = await fetchApi('/surveys', { key: account.key, headers });
    expect([refused.status, refused.text, refused.headers.get('Retry-After')]).toEqual([
      429,
      errorBody('Too many requests for this account. Try again in a few seconds.'),
      '10',
    ]);
    expect((await fetchApi('/surveys', { key: second, headers })).status).toBe(429);
    expect((await fetchApi('/surveys', { key: other.key, headers })).status).toBe(200);
    await beginWindow({ next: true });
    expect((await fetchApi('/surveys', { key: account.key, headers })).status).toBe(200);
  });

  test('does not cut a running export', async () => {
    const survey = await createPagedSurvey();
    const released = Promise.withResolvers<void>();
    const trial = 'limited';
    using _ = service.proxy.watch(trial, ({ index }) => (index >= 6 ? released.promise : undefined));
    await beginWindow();
    const download = await beginExport(survey, { headers: from('192.0.2.7', { 'Test-Trial': trial }) });
    const pages = Array.from({ length: 2 * LIMIT }, () =>
      fetchApi('/surveys', { key: survey.account.key, headers: from('192.0.2.7') }),
    );
    expect(count(await Promise.all(pages), 429)).toBeGreaterThan(0);
    released.resolve();
    const { complete, bytes } = await readExport(download);
    expect({ complete, same: bytes.equals(await copyResponses(survey)) }).toEqual({ complete: true, same: true });
  });
});

describe.concurrent('the limit per address', () => {
  test('counts every refused request, even with a key already found to be unknown', async () => {
    const guesses = from('192.0.2.2');
    const [key] = unknownKeys(1);
    await beginWindow();
    const responses = [];
    for (const bad of [key, key, undefined, 'x', key, key, key]) responses.push(await authenticate(bad, guesses));
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  test('applies to valid keys only if they are not cached, and to no other address', async () => {
    const cached = await service.createCachedAccount();
    const uncached = await createAccount();
    await beginWindow();
    await Promise.all(unknownKeys(LIMIT + 1).map((key) => authenticate(key, from('192.0.2.3'))));
    expect((await authenticate(cached.key, from('192.0.2.3'))).status).toBe(404);
    const stale = { 'Test-Clock-Ahead': String(6 * MINUTE) };
    expect((await authenticate(cached.key, from('192.0.2.3', stale))).status).toBe(404);
    expect((await authenticate(uncached.key, from('192.0.2.3'))).status).toBe(429);
    expect((await authenticate(uncached.key, from('192.0.2.4'))).status).toBe(404);
  });

  test.each([
    ['works', '192.0.2.5', {}],
    ['rejects', '192.0.2.8', { 'Test-Key-Cache': 'rejects' }],
    ['hangs', '192.0.2.9', { 'Test-Key-Cache': 'hangs' }],
  ])('counts requests with the same uncached key once if KV %s', async (_, address, headers) => {
    const { key } = await createAccount();
    await beginWindow();
    const known = () => authenticate(key, from(address, headers));
    const responses = await Promise.all(Array.from({ length: LIMIT - 1 }, known));
    expect(count([...responses, await known()], 404)).toBe(LIMIT);
    const others = await Promise.all(unknownKeys(LIMIT).map((unknown) => authenticate(unknown, from(address))));
    expect(count(others, 401)).toBe(LIMIT - 1);
  });
});

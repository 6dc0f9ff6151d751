import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { expectError } from '../api/requests.ts';
import { type ApiResponse, fetchApi, fetchService } from '../support/api.ts';
import { createAccount, storeKey } from '../support/data.ts';
import { linesIn } from '../support/request-log.ts';
import { MINUTE, authenticate, unknownKeys, startKeyService } from './service.ts';

const LIMIT = 5;
const ENTRY = { v: 3, keyId: 'k', expires: null, limits: null };
const service = await startKeyService({ limits: { ACCOUNT_LIMIT: LIMIT, FAILURE_LIMIT: LIMIT } });

const PERIOD_MS = 10_000;
/** Waits until the next window of the simulated limiter begins. They are aligned to the clock. */
const nextWindow = () => sleep(PERIOD_MS - (Date.now() % PERIOD_MS) + 50);

/**
 * Runs a test within one window. If another window has begun before its end, it found nothing, and
 * is run again.
 */
async function inOneWindow(run: () => Promise<void>): Promise<void> {
  const windowAt = () => Math.floor(Date.now() / PERIOD_MS);
  if (Date.now() % PERIOD_MS > 4_000) await nextWindow();
  for (;;) {
    const window = windowAt();
    const [result] = await Promise.allSettled([run()]);
    if (windowAt() === window) {
      if (result.status === 'rejected') throw result.reason;
      return;
    }
    await nextWindow();
  }
}

const count = (responses: readonly { status: number }[], status: number) =>
  responses.filter((response) => response.status === status).length;

const from = (address: string, more: Record<string, string> = {}) => ({
  'CF-Connecting-IP': address,
  ...more,
});

/** Checks the error of a request beyond a limit. */
function expectLimited(response: ApiResponse, message: string): void {
  expectError(response, 429, 'rate_limited', message);
  expect(response.headers.get('Retry-After')).toBe('10');
}

test('the limit per address counts unknown keys before they reach the database, and missing and malformed keys', () =>
  inOneWindow(async () => {
    const flood = from('192.0.2.1');
    const hashes = new Set<unknown>(); // an attempt can be repeated
    service.countKeyQueries(({ params }) => void hashes.add(params[0]));
    const responses = await Promise.all(unknownKeys(40).map((key) => authenticate(key, flood)));
    expect([count(responses, 401), count(responses, 429)]).toEqual([LIMIT, 40 - LIMIT]);
    expect(hashes.size).toBe(LIMIT);
    const message =
      'Too many requests from your network have an invalid or not recently used key. Check the key and try again in a few seconds.';
    for (const key of [undefined, 'x', generateApiKey()])
      expectLimited(await authenticate(key, flood), message);
  }));

test('beyond the limit per address, /healthz sends no query to a database that wakes up', () =>
  inOneWindow(async () => {
    const flood = from('192.0.2.10');
    const { key } = await createAccount();
    const awake = Promise.withResolvers<void>();
    let pings = 0;
    service.proxy.inject(({ query }) => {
      if (query.includes('api_key')) return undefined;
      pings++;
      return awake.promise;
    });
    const checks = Array.from({ length: 40 }, () => fetchService('/healthz', { headers: flood }));
    await expect.poll(() => pings).toBeGreaterThanOrEqual(LIMIT);
    const message = 'Too many requests from your network. Try again in a few seconds.';
    expectLimited(await fetchService('/healthz', { headers: flood }), message);
    expect((await authenticate(key, flood)).status).toBe(404); // counted apart
    awake.resolve();
    const responses = await Promise.all(checks);
    expect([count(responses, 200), count(responses, 429)]).toEqual([LIMIT, 40 - LIMIT]);
    expect((await fetchService('/healthz', { headers: from('192.0.2.11') })).status).toBe(200);
    expect(pings).toBe(LIMIT + 1);
  }));

// Their windows can be shared, because each test has its own account or address.
describe.concurrent('the limit', () => {
  test('per account counts the requests of all its keys, those of no other account, and ends after its period', async () => {
    const account = await createAccount();
    const second = generateApiKey();
    await storeKey(account.id, second);
    const other = await createAccount();
    const headers = from('192.0.2.6');
    const statusOf = async (key: string) => (await fetchApi('/surveys', { key, headers })).status;
    let refusedId: string | null;
    await inOneWindow(async () => {
      for (let i = 0; i < LIMIT; i++)
        expect(await statusOf(i % 2 ? second : account.key)).toBe(200);
      const refused = await fetchApi('/surveys', { key: account.key, headers });
      expectLimited(refused, 'Too many requests for this account. Try again in a few seconds.');
      refusedId = refused.headers.get('X-Request-Id');
      expect(await statusOf(second)).toBe(429);
      expect(await statusOf(other.key)).toBe(200);
    });
    await nextWindow();
    expect(await statusOf(account.key)).toBe(200);
    const line = {
      status: 429,
      accountId: account.id,
      keyCache: 'hit',
      rows: 0,
      sqlRequests: 0,
      end: 'complete',
    };
    expect(linesIn(service.worker).find(({ requestId }) => requestId === refusedId)).toMatchObject(
      line,
    );
  });

  test('per account counts its limited keys together, as those of another account', async () => {
    const account = await createAccount();
    const [one, two] = [generateLimitedApiKey(), generateLimitedApiKey()];
    for (const key of [one, two]) await storeKey(account.id, key, { limits: { v: 1 } });
    const headers = from('192.0.2.12');
    const statusOf = async (key: string) => (await fetchApi('/surveys', { key, headers })).status;
    await inOneWindow(async () => {
      for (let i = 0; i < LIMIT; i++) expect(await statusOf(account.key)).toBe(200);
      for (let i = 0; i < LIMIT; i++) expect(await statusOf(i % 2 ? one : two)).toBe(200);
      for (const key of [account.key, one, two]) expect(await statusOf(key)).toBe(429);
    });
  });

  test('per address counts every refused request, even with a key already found to be unknown', () =>
    inOneWindow(async () => {
      const guesses = from('192.0.2.2');
      const [key] = unknownKeys(1);
      const responses = [];
      for (const bad of [key, key, undefined, 'x', key, key, key])
        responses.push(await authenticate(bad, guesses));
      expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429]);
    }));

  test('per address applies to valid keys only if they are not cached, and to no other address', () =>
    inOneWindow(async () => {
      const [cached, stale, uncached] = [
        await createAccount(),
        await createAccount(),
        await createAccount(),
      ];
      for (const [{ id, email, key }, age] of [[cached, 0] as const, [stale, 6 * MINUTE] as const])
        await service.putEntry(key, { ...ENTRY, accountId: id, email, checked: Date.now() - age });
      await Promise.all(unknownKeys(LIMIT + 1).map((key) => authenticate(key, from('192.0.2.3'))));
      expect((await authenticate(cached.key, from('192.0.2.3'))).status).toBe(404);
      expect((await authenticate(stale.key, from('192.0.2.3'))).status).toBe(404);
      expect((await authenticate(uncached.key, from('192.0.2.3'))).status).toBe(429);
      expect((await authenticate(uncached.key, from('192.0.2.4'))).status).toBe(404);
    }));

  test.each([
    ['works', '192.0.2.5', {}],
    ['rejects', '192.0.2.8', { 'Test-Key-Cache': 'rejects' }],
    ['hangs', '192.0.2.9', { 'Test-Key-Cache': 'hangs' }],
  ])(
    'per address counts requests with the same uncached key once if KV %s',
    (_, address, headers) =>
      inOneWindow(async () => {
        const { key } = await createAccount();
        const known = () => authenticate(key, from(address, headers));
        const responses = await Promise.all(Array.from({ length: LIMIT - 1 }, known));
        expect(count([...responses, await known()], 404)).toBe(LIMIT);
        const others = await Promise.all(
          unknownKeys(LIMIT).map((unknown) => authenticate(unknown, from(address))),
        );
        expect(count(others, 401)).toBe(LIMIT - 1);
      }),
  );
});

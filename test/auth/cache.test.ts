import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { generateApiKey, generateLimitedApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { expectError, expectUnavailable, get } from '../api/requests.ts';
import {
  createPagedSurvey,
  disableTimeouts,
  endRetries,
  forward,
  isLaterPage,
  leave,
} from '../faults/service.ts';
import { type ApiResponse, errorBody, fetchApi, fetchService } from '../support/api.ts';
import { createAccount, createBulkSurvey, sql, storeKey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import { eventsIn, lineOf, linesIn } from '../support/request-log.ts';
import {
  HOUR,
  type KeyQueries,
  MINUTE,
  QUARTER,
  SECOND,
  authenticate,
  authenticateAt,
  lastUsed,
  nextQuarter,
  revokeInDatabase,
  startKeyService,
} from './service.ts';

const service = await startKeyService();
const ENTRY = { v: 3, keyId: 'k', accountId: 'a', email: 'e', expires: null, limits: null };

test('an uncached key is looked up for all waiting requests, even if the client whose request runs the query disconnects', async () => {
  const { key } = await createAccount();
  await disableTimeouts();
  const held = Promise.withResolvers<void>();
  const queries = service.countKeyQueries(() => held.promise);
  const others: Promise<ApiResponse>[] = [];
  await leave('/nothing-here', key, async () => {
    await expect.poll(() => queries.lookups).toBe(1);
    others.push(authenticate(key), authenticate(key));
    await sleep(200);
  });
  await sleep(200);
  held.resolve();
  for (const { status } of await Promise.all(others)) expect(status).toBe(404);
  expect(queries.lookups).toBe(1);
});

describe('a KV entry', () => {
  test('is named by the hash, holds the account and the time of the check, and lives for a day', async () => {
    const before = Date.now();
    const { key, id, email, checked } = await service.createCachedAccount();
    const entry = {
      v: 3,
      keyId: expect.any(String),
      accountId: id,
      email,
      expires: null,
      limits: null,
      checked,
    };
    expect(await service.cached(key)).toEqual(entry);
    expect(checked).toBeGreaterThanOrEqual(before);
    expect(checked).toBeLessThanOrEqual(Date.now());
    expect(await secondsToLive(key, checked)).toBeCloseTo(24 * 3600, -2);
  });

  test.each([
    ['until the key expires', 10 * MINUTE, 600],
    ['for at least 60 seconds, which is KV’s minimum', 20 * SECOND, 60],
  ])('lives %s', async (_, lifetime, seconds) => {
    const account = await createAccount();
    const key = generateApiKey();
    await storeKey(account.id, key, { expires: new Date(Date.now() + lifetime) });
    await authenticate(key);
    expect(await secondsToLive(key, await service.untilCached(key))).toBeCloseTo(seconds, -2);
  });

  async function secondsToLive(key: string, from: number): Promise<number> {
    const { keys } = await service.worker.keys.list({ prefix: await hashApiKey(key) });
    return (keys[0]?.expiration ?? Infinity) - from / 1000;
  }

  test.each<[string, object, number, string?]>([
    ['as documented', {}, 404],
    ['of another version', { v: 1 }, 401],
    ['whose account is not text', { accountId: 7 }, 401],
    ['without a key id', { keyId: undefined }, 401],
    ['without an e-mail address', { email: undefined }, 401],
    ['without an expiry', { expires: undefined }, 401],
    ['without the time of its check', { checked: undefined }, 401],
    ['of a limited key', { limits: { v: 1, surveys: [] } }, 404, generateLimitedApiKey()],
    ['of another key that is limited', { limits: { v: 1, surveys: [] } }, 401],
    ['without limits', { limits: undefined }, 401, generateLimitedApiKey()],
    ['with null for limits', { limits: null }, 401, generateLimitedApiKey()],
    ['with unknown limits', { limits: { v: 1, waves: [] } }, 401, generateLimitedApiKey()],
    ['with another field', { waves: [] }, 401],
  ])('%s: %s gives %i', async (_, change, status, key = generateApiKey()) => {
    await service.putEntry(key, { ...ENTRY, checked: Date.now(), ...change });
    expect((await authenticate(key)).status).toBe(status);
  });
});

describe('a key that is refused', () => {
  test('takes one KV read and one query whether it is unknown, revoked or expired, so that timing reveals nothing', async () => {
    const account = await createAccount();
    const [unknown, revoked, expired, cached] = [1, 2, 3, 4].map(generateApiKey) as [
      string,
      string,
      string,
      string,
    ];
    await storeKey(account.id, revoked, { revoked: new Date() });
    await storeKey(account.id, expired, { expires: new Date(Date.now() - HOUR) });
    const expires = Date.now() - SECOND;
    await storeKey(account.id, cached, { expires: new Date(expires) });
    await service.putEntry(cached, {
      v: 3,
      keyId: '',
      accountId: account.id,
      email: '',
      expires,
      limits: null,
      checked: Date.now(),
    });
    for (const key of [unknown, revoked, expired, cached]) {
      const queries = service.countKeyQueries();
      const { result, line } = await lineOf(service.worker, () => authenticate(key));
      expect([result.status, result.text, line.keyCache]).toEqual([
        401,
        errorBody('Invalid Token.'),
        'miss',
      ]);
      expect(queries).toEqual({ lookups: 1, uses: 0 });
    }
  });

  test('takes neither a KV read nor a query for the next minute', async () => {
    const key = generateApiKey();
    const queries = service.countKeyQueries();
    const now = Date.now();
    expect((await authenticateAt(now, key)).status).toBe(401);
    for (const seconds of [1, 30, 59]) {
      const { result, line } = await lineOf(service.worker, () =>
        authenticateAt(now + seconds * SECOND, key),
      );
      expect([result.status, line.keyCache]).toEqual([401, null]);
    }
    expect(queries.lookups).toBe(1);
    expect((await authenticateAt(now + 2 * MINUTE, key)).status).toBe(401);
    expect(queries.lookups).toBe(2);
  });

  test('takes neither a KV read nor a query if it is malformed', async () => {
    const queries = service.countKeyQueries();
    const key = generateApiKey();
    const checksum = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const bad of ['', 'x', key.slice(0, -1), `${key}0`, checksum]) {
      const { result, line } = await lineOf(service.worker, () => authenticate(bad));
      expect([result.status, line.keyCache]).toEqual([401, null]);
    }
    expect(queries.lookups).toBe(0);
  });
});

describe('a revoked key', () => {
  test('is refused at once after its entry is deleted, even while its use is still being recorded', async () => {
    const queries = service.countKeyQueries((exchange) => {
      if (exchange.query.includes('update')) exchange.hang();
    });
    // recording its use does not delay the response
    const { key } = await service.createCachedAccount();
    await expect.poll(() => queries.uses).toBe(1);
    expect(await lastUsed(key)).toBeNull();
    await revokeInDatabase(key);
    await service.deleteEntry(key);
    expect((await authenticate(key)).status).toBe(401);
  });

  test('is refused after its entry is deleted during a lookup, and the entry does not come back', async () => {
    const { key, checked } = await service.createCachedAccount();
    const later = checked + 6 * MINUTE;
    await disableTimeouts();
    const found = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    service.countKeyQueries((exchange) =>
      exchange.change(async (body) => {
        found.resolve();
        await held.promise;
        return body;
      }),
    );
    // longer than the next request takes
    const before = authenticateAt(later, key, { 'Test-Key-Cache': 'is slow' });
    await found.promise;
    await revokeInDatabase(key);
    await service.deleteEntry(key);
    held.resolve();
    expect((await before).status).toBe(404);
    expect((await authenticateAt(later + SECOND, key)).status).toBe(401);
    await sleep(1000);
    expect(await service.cached(key)).toBeNull();
  });

  test('ends a file, and a request that waits for the database', async () => {
    const trial = randomUUID();
    await disableTimeouts();
    let held = 0;
    using _ = service.proxy.watch(trial, (exchange) => {
      if (!exchange.query.includes('answered') && !isLaterPage(exchange)) return undefined;
      held++;
      return new Promise<void>(() => {});
    });
    const headers = { 'Test-Clock-Ahead': '0', 'Test-Trial': trial };
    const createSmall = async () =>
      createBulkSurvey(await createAccount(), { rows: 2000, forms: 1 });
    const surveys = [await createSmall(), await createSmall()] as const;
    const file = (await beginExport(surveys[0], { headers })).pause();
    const summary = get('/responses/summary', surveys[1], {}, { headers });
    await expect.poll(() => held).toBeGreaterThanOrEqual(2);
    for (const { account } of surveys) {
      await revokeInDatabase(account.key);
      await service.deleteEntry(account.key);
    }

    expectError(await summary, 401, 'invalid_token', 'Invalid Token.');
    const line = () =>
      linesIn(service.worker).find((one) => one.requestId === file.headers['x-request-id']);
    await vi.waitUntil(line, { timeout: 30_000 });
    expect(line()).toMatchObject({ end: 'failed', reason: 'RevokedKeyError' });
    expect((await readExport(file)).complete).toBe(false);
  });

  test('stays refused even if its entry is still fresh', async () => {
    const quarter = nextQuarter();
    const { key } = await service.createCachedAccount(quarter - 30 * SECOND);
    await revokeInDatabase(key);
    // a new quarter of an hour: looked up after the response
    await authenticateAt(quarter + SECOND, key);
    await expect
      .poll(async () => (await authenticateAt(quarter + 2 * SECOND, key)).status)
      .toBe(401);
    for (const seconds of [50, 70, 130, 200]) {
      expect((await authenticateAt(quarter + seconds * SECOND, key)).status).toBe(401);
    }
  });
});

describe('when the clock was set back', () => {
  test('an isolate’s own result with a later time does not count', async () => {
    const { key, checked } = await service.createCachedAccount();
    await revokeInDatabase(key);
    await service.deleteEntry(key);
    expect((await authenticateAt(checked - MINUTE, key)).status).toBe(401);
  });

  test('an entry with a later time does not count, nor end a refusal once that time has come', async () => {
    const key = generateApiKey();
    const now = Date.now();
    await service.putEntry(key, { ...ENTRY, checked: now + HOUR });
    expect((await authenticateAt(now, key)).status).toBe(401);
    expect((await authenticateAt(now + HOUR + SECOND, key)).status).toBe(401);
  });
});

describe('a key that expires', () => {
  test('is refused from then on even if it is cached', async () => {
    const account = await createAccount();
    const key = generateApiKey();
    const expires = Date.now() + HOUR;
    await storeKey(account.id, key, { expires: new Date(expires) });
    await authenticate(key);
    await service.untilCached(key);
    await service.putEntry(key, { ...(await service.cached(key)), checked: expires - 2 * MINUTE });
    expect((await authenticateAt(expires - 10 * SECOND, key)).status).toBe(404);
    expect((await authenticateAt(expires, key)).status).toBe(401);
  });

  test('is refused from then on even if KV returns an entry from before its expiry was set', async () => {
    const quarter = nextQuarter();
    const { key } = await service.createCachedAccount(quarter - MINUTE);
    const older = (await service.cached(key)) ?? {};
    const expires = quarter + 2 * MINUTE;
    await sql('update api_keys set expires = $2 where hash = $1', [
      await hashApiKey(key),
      new Date(expires),
    ]);

    // a new quarter of an hour: looked up after the response
    await authenticateAt(quarter + SECOND, key);
    await expect.poll(async () => (await service.cached(key))?.['expires']).toBe(expires);
    await service.putEntry(key, older); // a location may still return it
    expect((await authenticateAt(expires, key)).status).toBe(401);
  });
});

test('last_used is written once per quarter of an hour, although the entry is fresh', async () => {
  const { key } = await createAccount();
  /** Sends ten requests that do not set the clock back, as ten with the same `Test-Clock` would. */
  const tenAt = (time: number) => {
    const clock = { 'Test-Clock-Ahead': String(time - Date.now()) };
    return Promise.all(Array.from({ length: 10 }, () => authenticate(key, clock)));
  };
  const queries = service.countKeyQueries();
  expect(await lastUsed(key)).toBeNull();

  const first = nextQuarter() + 10 * SECOND;
  await tenAt(first);
  await expect.poll(() => lastUsed(key)).toBeGreaterThanOrEqual(first);
  const written = await lastUsed(key);
  for (const minutes of [1, 6, 13]) await authenticateAt(first + minutes * MINUTE, key);
  expect(await lastUsed(key)).toBe(written);
  expect(queries.uses).toBe(1);

  await tenAt(first + QUARTER);
  await expect.poll(() => lastUsed(key)).toBeGreaterThanOrEqual(first + QUARTER);
  expect(queries.uses).toBe(2);
});

test('a key is accepted although its use cannot be written', async () => {
  const role = 'survey_export_worker';
  await sql(`revoke insert (keyid, last_used) on api_key_uses from ${role}`);
  onTestFinished(
    async () => void (await sql(`grant insert (keyid, last_used) on api_key_uses to ${role}`)),
  );
  const { key } = await createAccount();
  expect((await authenticate(key)).status).toBe(404);
  await expect.poll(() => service.worker.log()).toMatch(/key use not noted.*42501/);
});

describe('while the database fails', () => {
  const fail = (held?: Promise<void>) =>
    service.countKeyQueries(async (exchange) => {
      await held;
      exchange.reset();
    });

  /** Moves the clock past the end of a request's retries, once its lookup has been retried. */
  async function untilRetriesEnd<T>(response: Promise<T>, queries: KeyQueries): Promise<T> {
    await expect.poll(() => queries.lookups).toBeGreaterThan(1);
    await endRetries();
    return response;
  }

  test('a key that was checked within 5 minutes is accepted, and any other gets 503', async () => {
    const { key, checked } = await service.createCachedAccount(nextQuarter());
    const queries = fail();
    expect((await authenticateAt(checked + 5 * MINUTE - 10 * SECOND, key)).status).toBe(404);
    const sent = lineOf(service.worker, () =>
      untilRetriesEnd(authenticateAt(checked + 5 * MINUTE, key), queries),
    );
    const { line, result } = await sent;
    expectUnavailable(result);
    expect(line.keyCache).toBe('stale');
    const guess = authenticateAt(checked + 5 * MINUTE, generateApiKey());
    expectUnavailable(await untilRetriesEnd(guess, fail()));
    service.proxy.inject();
    expect((await authenticateAt(checked + 6 * MINUTE, key)).status).toBe(404);
  });

  test('a lookup that only notes the use of a key delays no response, and its failure is logged', async () => {
    const quarter = nextQuarter();
    const { key } = await service.createCachedAccount(quarter - MINUTE);
    await disableTimeouts();
    const held = Promise.withResolvers<void>();
    const queries = fail(held.promise);
    const { status, headers } = await authenticateAt(quarter + MINUTE, key);
    expect(status).toBe(404);
    expect(queries.lookups).toBeLessThan(2); // the first attempt has not failed yet
    held.resolve();
    await untilRetriesEnd(Promise.resolve(), queries);
    const requestId = headers.get('X-Request-Id');
    const failure = expect.objectContaining({ requestId });
    await expect.poll(() => eventsIn(service.worker, 'key lookup failed')).toContainEqual(failure);
    expect((await authenticateAt(quarter + 2 * MINUTE, key)).status).toBe(404);
  });

  test('a running export whose key has to be checked continues', async () => {
    const survey = await createPagedSurvey();
    await disableTimeouts();
    const held = Promise.withResolvers<void>();
    let checks = 0;
    service.proxy.inject((exchange) => {
      // as if far away: the account has as many requests as it can
      if (exchange.index < 6) return sleep(400);
      if (!exchange.query.includes('api_key')) return held.promise;
      checks++;
      return exchange.reset();
    });
    const response = await beginExport(survey, { headers: { 'Test-Clock-Ahead': '0' } });
    await expect.poll(() => service.proxy.requests).toBeGreaterThan(6);
    await forward(6 * MINUTE);
    await expect.poll(() => checks).toBeGreaterThan(1);
    held.resolve();
    const download = readExport(response);
    await endRetries();
    expect((await download).complete).toBe(true);
  });

  test('requests that need no query get their responses, and /healthz gets 503', async () => {
    const { key } = await service.createCachedAccount();
    service.proxy.inject((exchange) => exchange.reset());
    expect((await authenticate(key)).status).toBe(404);
    expect((await fetchApi('/responses', { key })).status).toBe(400);
    expect((await fetchApi('/surveys', { key: 'no key' })).status).toBe(401);
    expect((await fetchService('/healthz')).status).toBe(503);
  });
});

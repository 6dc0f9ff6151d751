import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { ask, errorBody } from '../support/api.ts';
import { type TestAccount, createAccount, sql, storeKey } from '../support/data.ts';
import { MINUTE, SECOND, authenticate, lastUsed, revokeInDatabase, withKeyService } from './service.ts';

const service = withKeyService();
const HOUR = 60 * MINUTE;
const QUARTER = 15 * MINUTE;

afterEach(() => authenticate('', 0)); // sets the clock right again

/** Milliseconds to put the clock ahead by so that a quarter of an hour has just begun. */
const toNextQuarter = () => QUARTER - (Date.now() % QUARTER) + 10 * SECOND;

describe('a key', () => {
  test('costs one query when it is cold, and none when it is hot', async () => {
    const { key } = await createAccount();
    const queries = service.countKeyQueries();
    expect((await authenticate(key)).status).toBe(404);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    for (let i = 0; i < 20; i++) expect((await authenticate(key)).status).toBe(404);
    expect(queries.lookUps).toBe(1);
  });

  test('costs one query when a hundred requests come with it at once', async () => {
    const { key } = await createAccount();
    const queries = service.countKeyQueries();
    const answers = await Promise.all(Array.from({ length: 100 }, () => authenticate(key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(queries.lookUps).toBe(1);
  });

  test('costs no more than a few queries together with a hundred others that are cold', async () => {
    const accounts: TestAccount[] = [];
    while (accounts.length < 100) accounts.push(await createAccount());
    const queries = service.countKeyQueries();
    const answers = await Promise.all(accounts.map(({ key }) => authenticate(key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(queries.hashes).toBe(100);
    expect(queries.lookUps).toBeLessThan(50);
  });

  test('is looked up for all who wait, although the client whose request does it has gone', async () => {
    const { key } = await createAccount();
    const held = Promise.withResolvers<void>();
    const queries = service.countKeyQueries(() => held.promise);
    const { hostname, port } = service.worker.url;
    const client = connect(Number(port), hostname);
    client.write(`GET /api/v1/nothing-here HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await expect.poll(() => queries.lookUps).toBe(1);
    const others = [authenticate(key), authenticate(key)];
    await new Promise((resolve) => setTimeout(resolve, 200));
    client.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
    held.resolve();
    for (const answer of await Promise.all(others)) expect(answer.status).toBe(404);
    expect(queries.lookUps).toBe(1);
  });

  test('has nothing of itself in the cache: its hash is the name, and the entry says whose it is and since when', async () => {
    const account = await createAccount();
    await authenticate(account.key);
    await expect.poll(() => service.cached(account.key)).not.toBeNull();
    const entry = await service.cached(account.key);
    expect(Object.keys(entry ?? {})).toEqual(['v', 'keyId', 'accountId', 'email', 'expires', 'checked']);
    expect(entry).toMatchObject({ v: 2, accountId: account.id, email: account.email, expires: null });
    expect(Math.abs(Date.now() - Number(entry?.['checked']))).toBeLessThan(MINUTE);
    const { keys } = await service.worker.keys.list({ prefix: await hashApiKey(account.key) });
    expect(keys[0]?.expiration ?? 0).toBeGreaterThan(Date.now() / 1000 + 23 * 3600);
  });
});

test('whatever is refused has cost the same, so that its time tells nothing: one look into the cache, one query', async () => {
  const account = await createAccount();
  const [unknown, revoked, expired, cached] = [1, 2, 3, 4].map(generateApiKey) as [string, string, string, string];
  await storeKey(account.id, revoked, { revoked: new Date() });
  await storeKey(account.id, expired, { expires: new Date(Date.now() - HOUR) });
  await storeKey(account.id, cached, { expires: new Date(Date.now() - SECOND) });
  const { keys } = service.worker;
  const entry = {
    v: 2,
    keyId: '',
    accountId: account.id,
    email: '',
    expires: Date.now() - SECOND,
    checked: Date.now(),
  };
  await keys.put(await hashApiKey(cached), JSON.stringify(entry));
  for (const key of [unknown, revoked, expired, cached]) {
    const queries = service.countKeyQueries();
    const { status, text } = await authenticate(key);
    expect({ status, text, ...queries }).toEqual({
      status: 401,
      text: errorBody('Invalid Token.'),
      lookUps: 1,
      hashes: 1,
      marks: 0,
    });
  }
});

describe('a revoked key', () => {
  test('is refused at once where its entry was deleted', async () => {
    const { key } = await createAccount();
    await authenticate(key);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    await revokeInDatabase(key);
    await service.worker.keys.delete(await hashApiKey(key));
    expect((await authenticate(key)).status).toBe(401);
  });

  test('is refused at once where its entry was deleted, although its use is still being noted', async () => {
    const { key } = await createAccount();
    service.countKeyQueries((exchange) => {
      if (exchange.query.includes('update')) exchange.hang();
    });
    await authenticate(key);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    await revokeInDatabase(key);
    await service.worker.keys.delete(await hashApiKey(key));
    expect((await authenticate(key)).status).toBe(401);
  });

  test('that was refused once is refused from then on, although its entry is still fresh', async () => {
    const { key } = await createAccount();
    const border = toNextQuarter() - 10 * SECOND;
    await authenticate(key, border - 30 * SECOND);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    await revokeInDatabase(key);
    await authenticate(key, border + SECOND); // a new quarter of an hour: the database is asked, after the response
    await expect.poll(async () => (await authenticate(key, border + 2 * SECOND)).status).toBe(401);
    for (const seconds of [50, 70, 130, 200]) {
      expect((await authenticate(key, border + seconds * SECOND)).status).toBe(401);
    }
  });

  test('lives for five minutes where its entry is still there, and not a second longer', async () => {
    const { key } = await createAccount();
    await authenticate(key);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    await revokeInDatabase(key);
    const checked = Number((await service.cached(key))?.['checked']);
    expect((await authenticate(key, checked + 5 * MINUTE - SECOND - Date.now())).status).toBe(404);
    expect((await authenticate(key, checked + 5 * MINUTE - Date.now())).status).toBe(401);
  });
});

describe('a key with an expiry', () => {
  test('is refused from that second on, although it is cached, and leaves the cache', async () => {
    const account = await createAccount();
    const key = generateApiKey();
    const expires = Date.now() + HOUR;
    await storeKey(account.id, key, { expires: new Date(expires) });
    expect((await authenticate(key)).status).toBe(404);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    // A little before: an entry that was just checked, as one in use is.
    const entry = { ...(await service.cached(key)), checked: expires - 2 * MINUTE };
    await service.worker.keys.put(await hashApiKey(key), JSON.stringify(entry), { expirationTtl: 3600 });
    expect((await authenticate(key, expires - 2 * SECOND - Date.now())).status).toBe(404);
    expect((await authenticate(key, expires - Date.now())).status).toBe(401);
  });

  test('is refused from that second on where KV shows an older entry, without that expiry, than the isolate knows', async () => {
    const { key } = await createAccount();
    await authenticate(key);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    const older = { ...(await service.cached(key)), checked: Date.now() - MINUTE };
    const expires = Date.now() + 7 * MINUTE;
    await sql('update api_keys set expires = $2 where hash = $1', [await hashApiKey(key), new Date(expires)]);

    const putOlder = async () => service.worker.keys.put(await hashApiKey(key), JSON.stringify(older));
    const entryWith = async () => (await service.cached(key))?.['expires'];
    await putOlder();
    expect((await authenticate(key, 6 * MINUTE)).status).toBe(404); // asks the database
    await expect.poll(entryWith).toBe(expires);
    await putOlder(); // as a location may go on showing it
    expect((await authenticate(key, expires - SECOND - Date.now())).status).toBe(404);
    expect((await authenticate(key, expires - Date.now())).status).toBe(401);
    expect((await authenticate(key, expires + 2 * MINUTE - Date.now())).status).toBe(401);
  });

  test('is kept in the cache for no longer than it lives', async () => {
    const account = await createAccount();
    const key = generateApiKey();
    await storeKey(account.id, key, { expires: new Date(Date.now() + 10 * MINUTE) });
    await authenticate(key);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    const { keys } = await service.worker.keys.list({ prefix: await hashApiKey(key) });
    expect(keys[0]?.expiration ?? Infinity).toBeLessThan(Date.now() / 1000 + 11 * 60);
  });
});

describe('the time a key was last used', () => {
  test('is noted once in each quarter of an hour', async () => {
    const { key } = await createAccount();
    const queries = service.countKeyQueries();
    expect(await lastUsed(key)).toBeNull();
    const next = toNextQuarter();
    const inQuarter = (n: number) => next + n * QUARTER;

    const before = Date.now() + inQuarter(0);
    await Promise.all(Array.from({ length: 10 }, () => authenticate(key, inQuarter(0))));
    await expect.poll(() => lastUsed(key)).not.toBeNull();
    const first = (await lastUsed(key))?.getTime() ?? 0;
    expect(first).toBeGreaterThanOrEqual(before);
    expect(first).toBeLessThanOrEqual(Date.now() + inQuarter(0));

    for (const minutes of [1, 6, 13]) await authenticate(key, inQuarter(0) + minutes * MINUTE);
    expect((await lastUsed(key))?.getTime()).toBe(first);
    expect(queries.marks).toBe(1);

    await Promise.all(Array.from({ length: 10 }, () => authenticate(key, inQuarter(1))));
    await expect.poll(async () => (await lastUsed(key))?.getTime()).toBeGreaterThanOrEqual(before + QUARTER);
    expect(queries.marks).toBe(2);
  });

  test('is noted although the entry in the cache is fresh, when a new quarter has begun', async () => {
    const { key } = await createAccount();
    const border = toNextQuarter() - 10 * SECOND;
    await authenticate(key, border - MINUTE);
    await expect.poll(() => lastUsed(key)).not.toBeNull();
    const first = (await lastUsed(key))?.getTime() ?? 0;
    await authenticate(key, border + MINUTE);
    await expect.poll(async () => (await lastUsed(key))?.getTime()).toBeGreaterThanOrEqual(first + 2 * MINUTE);
  });

  test('does not hold up the response, nor fail it', async () => {
    const { key } = await createAccount();
    const queries = service.countKeyQueries((exchange) => {
      if (exchange.query.includes('update')) exchange.hang();
    });
    expect((await authenticate(key)).status).toBe(404);
    await expect.poll(() => queries.marks).toBe(1);
    expect(await lastUsed(key)).toBeNull();
  });

  test('is not noted for a key that is refused', async () => {
    const { key } = await createAccount();
    await revokeInDatabase(key);
    const queries = service.countKeyQueries();
    expect((await authenticate(key)).status).toBe(401);
    expect(queries).toEqual({ lookUps: 1, hashes: 1, marks: 0 });
  });
});

test('neither a key nor its hash is logged, whatever fails', async () => {
  const { key } = await createAccount();
  service.countKeyQueries((exchange) => exchange.reply(500, `quota ${JSON.stringify(exchange.params)}`));
  const { log } = service.worker;
  expect((await ask('/surveys', { key })).status).toBe(503);
  await expect.poll(log).toContain('quota');
  expect(log()).not.toContain(key);
  expect(log()).not.toContain(await hashApiKey(key));
});

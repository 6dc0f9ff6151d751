import { request } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { createAccount } from '../support/data.ts';
import { MINUTE, SECOND, authenticate, withKeyService } from './service.ts';

const service = withKeyService({ limits: { FAILURE_LIMIT: 1_000_000 } });
afterEach(() => authenticate('', 0));

/** Queries that a flood may cause at once, and then one a second: see docs/keys.md. */
const BURST = 20;
/** The suite's own clock: each test begins some minutes after the one before, with its allowance full again. */
let minutes = 0;
const later = () => (minutes += 5) * MINUTE;

/** Authenticates from another address of this machine. */
async function authenticateFrom(localAddress: string, key: string): Promise<number> {
  const { hostname, port } = service.worker.url;
  const path = '/api/v1/nothing-here';
  const asking = request({ hostname, port, path, localAddress, headers: { Authorization: `Bearer ${key}` } }).end();
  const [response] = (await once(asking, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

const tally = (statuses: readonly number[]) =>
  Object.fromEntries([401, 404, 429].map((status) => [status, statuses.filter((each) => each === status).length]));

describe('well-formed keys that were never issued', () => {
  test('a thousand at once cost some twenty queries', async () => {
    const ahead = later();
    await authenticate('', ahead);
    const queries = service.countKeyQueries();
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async () => (await authenticate(generateApiKey(), ahead)).status),
    );
    expect(tally(statuses)[404]).toBe(0);
    expect(tally(statuses)[401]).toBeGreaterThan(BURST);
    expect(queries.lookUps).toBeGreaterThan(0);
    expect(queries.lookUps).toBeLessThanOrEqual(BURST + 10);
  });

  test('a thousand one after the other cost twenty queries and one a second; then the address gets 429', async () => {
    const ahead = later();
    await authenticate('', ahead);
    const queries = service.countKeyQueries();
    const start = Date.now();
    const statuses: number[] = [];
    for (let i = 0; i < 1000; i++) statuses.push((await authenticate(generateApiKey(), ahead)).status);
    const seconds = (Date.now() - start) / 1000;
    expect(statuses.slice(0, BURST)).toEqual(Array.from({ length: BURST }, () => 401));
    expect(tally(statuses)[429]).toBeGreaterThan(500);
    expect(queries.lookUps).toBeLessThanOrEqual(BURST + seconds + 1);
    const answer = await authenticate(generateApiKey(), ahead);
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '60']);
  });

  test('make the owner of a genuine key that is not cached wait a second, elsewhere, and cost one query for all', async () => {
    const ahead = later();
    for (let i = 0; i <= BURST; i++) await authenticate(generateApiKey(), ahead);
    expect((await authenticate(generateApiKey(), ahead)).status).toBe(429);
    const accounts = [await createAccount(), await createAccount(), await createAccount()];
    const queries = service.countKeyQueries();
    const start = Date.now();
    const statuses = await Promise.all(accounts.map(({ key }) => authenticateFrom('127.0.0.2', key)));
    expect(statuses).toEqual([404, 404, 404]);
    expect(queries.lookUps).toBeLessThanOrEqual(2);
    expect(queries.hashes).toBe(3);
    expect(Date.now() - start).toBeLessThan(5 * SECOND);
  });

  test('do not keep out a key from the same address that is cached', async () => {
    const ahead = later();
    const { key } = await createAccount();
    await authenticate(key, ahead);
    await expect.poll(() => service.cached(key)).not.toBeNull();
    for (let i = 0; i <= BURST; i++) await authenticate(generateApiKey(), ahead);
    expect((await authenticate(generateApiKey(), ahead)).status).toBe(429);
    expect((await authenticate(key, ahead)).status).toBe(404);
  });

  test('are asked for once a minute each', async () => {
    const ahead = later();
    const key = generateApiKey();
    const queries = service.countKeyQueries();
    for (const seconds of [0, 1, 30, 59]) expect((await authenticate(key, ahead + seconds * SECOND)).status).toBe(401);
    expect(queries.lookUps).toBe(1);
    expect((await authenticate(key, ahead + 61 * SECOND)).status).toBe(401);
    expect(queries.lookUps).toBe(2);
  });
});

test('what is no key costs neither a query nor a look into the cache', async () => {
  const queries = service.countKeyQueries();
  const key = generateApiKey();
  for (const bad of ['', 'x', key.slice(0, -1), `${key}0`, key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
    expect((await authenticate(bad)).status).toBe(401);
  }
  expect(queries.lookUps).toBe(0);
});

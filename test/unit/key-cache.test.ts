import { Hono, type MiddlewareHandler } from 'hono';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { KeyCache, type KeyRequest } from '../../src/auth/key-cache.ts';
import type { KeyNamespace } from '../../src/auth/key-entry.ts';
import type { Connection } from '../../src/db/client.ts';
import type { Row } from '../../src/db/sql.ts';
import { RequestStats } from '../../src/http/request-stats.ts';

// Tests of what cannot be provoked in workerd and its KV: copies at other locations, lost requests,
// a certain order of events.

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-03-01T00:00:00Z') }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const KEY = { keyId: 'key id', accountId: 'account id', email: 'a@example.org' };
const found = async (): Promise<Row[]> => [[JSON.stringify({ ...KEY, expires: null }), null]];
const notFound = async (): Promise<Row[]> => [];

const requestWith = (
  rows: () => Promise<Row[]>,
  kv: Partial<KeyNamespace> = {},
  deferred: Promise<unknown>[] = [],
): KeyRequest => ({
  kv: { get: async () => null, put: async () => {}, ...kv },
  db: { rows, execute: async () => {} } as Partial<Connection> as Connection,
  requestId: 'r',
  stats: { keyCache: null },
  defer: (work) => void deferred.push(work),
  address: '192.0.2.1',
  countFailure: async () => {},
});

const ENTRY = { v: 3, ...KEY, expires: null, limits: null };

test('a location that has a copy of a KV entry notices within 30 seconds that the entry was deleted', async () => {
  let copied: number | undefined;
  /**
   * Reads an entry that has been deleted elsewhere:
   * https://developers.cloudflare.com/kv/api/read-key-value-pairs/#cachettl-parameter
   */
  const get: KeyNamespace['get'] = async (_, { cacheTtl }) => {
    copied ??= Date.now();
    return Date.now() - copied < 1000 * cacheTtl ? { ...ENTRY, checked: copied } : null;
  };
  const find = () => new KeyCache().find('hash', requestWith(notFound, { get }));
  expect(await find()).toBeDefined();
  vi.setSystemTime(Date.now() + 30_000);
  expect(await find()).toBeUndefined();
});

test('an isolate remembers its last 5,000 results while KV fails', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const cache = new KeyCache();
  const rows = vi.fn<() => Promise<Row[]>>(found);
  const get = () => Promise.reject(new Error('KV is having a bad day'));
  const find = (i: number) => cache.find(`hash ${i}`, requestWith(rows, { get }));
  for (let i = 0; i <= 5000; i++) await find(i);
  expect(rows).toHaveBeenCalledTimes(5001);
  for (const i of [5000, 1]) await find(i);
  expect(rows).toHaveBeenCalledTimes(5001);
  await find(0);
  expect(rows).toHaveBeenCalledTimes(5002);
});

/**
 * The part of src/auth/middleware.ts used here, imported without its types, which need those of the
 * Workers runtime.
 */
interface Middleware {
  readonly authenticate: () => MiddlewareHandler<{ Variables: Record<string, unknown> }>;
}

test('a request checks its key every 10 s, 900 times in KV and then in the database', async () => {
  const { authenticate } = await vi.importActual<Middleware>('../../src/auth/middleware.ts');
  const get = vi.fn<KeyNamespace['get']>(async () => ({ ...ENTRY, checked: Date.now() }));
  const rows = vi.fn<() => Promise<Row[]>>(found);
  const { db, kv } = requestWith(rows, { get });
  const limiter = { limit: async () => ({ success: true }) };
  const requestAbort = new AbortController();
  const variables = { connection: db, stats: new RequestStats(), requestId: 'r', requestAbort };
  const checked = () => [
    get.mock.calls.length,
    rows.mock.calls.length,
    requestAbort.signal.aborted,
  ];
  const app = new Hono<{ Variables: Record<string, unknown> }>()
    .use(async (c, next) => {
      for (const [name, value] of Object.entries(variables)) c.set(name, value);
      await next();
    })
    .use(authenticate())
    .get('/', async (c) => {
      await vi.advanceTimersByTimeAsync(900 * 10_000);
      expect(checked()).toEqual([1 + 900, 0, false]); // the request itself was checked, too
      await vi.advanceTimersByTimeAsync(10_000);
      rows.mockImplementation(notFound);
      expect(checked()).toEqual([1 + 900, 1, false]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(checked()).toEqual([1 + 900, 2, true]);
      return c.text('checked');
    });
  const headers = { Authorization: `Bearer ${generateApiKey()}` };
  const env = { API_KEYS: kv, ACCOUNT_LIMIT: limiter, FAILURE_LIMIT: limiter };
  const context = { waitUntil() {}, passThroughOnException() {}, props: {} };
  expect(await (await app.request('/', { headers }, env, context)).text()).toBe('checked');
  expect(vi.getTimerCount()).toBe(0);
});

test('the result of a lookup whose request ended before the KV write is shared for at most 20 seconds', async () => {
  const cache = new KeyCache();
  const put = () => new Promise<void>(() => {});
  expect(await cache.find('hash', requestWith(found, { put }))).toMatchObject({ keyId: 'key id' });
  vi.setSystemTime(Date.now() + 20_000); // timers of a request that ended do not fire
  expect(await cache.find('hash', requestWith(notFound))).toBeUndefined();
});

test('a lookup fails for waiting requests after 20 s; the next request starts another, and what the first one finds changes nothing', async () => {
  const cache = new KeyCache();
  const slow = Promise.withResolvers<Row[]>();
  const put = vi.fn<KeyNamespace['put']>(async () => {});
  const first = requestWith(() => slow.promise, { put });
  const waiting = Promise.allSettled([cache.find('hash', first)]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await waiting).toMatchObject([
    { reason: { message: 'no result of the key lookup within 20000 ms' } },
  ]);
  expect(await cache.find('hash', requestWith(notFound))).toBeUndefined();
  slow.resolve(await found());
  await vi.advanceTimersByTimeAsync(0);
  expect(await cache.find('hash', requestWith(found))).toBeUndefined();
  expect(put).not.toHaveBeenCalled();
});

test('an address that has reached its limit is refused alone; requests of others with the same key, and checks of running exports, share one lookup', async () => {
  const cache = new KeyCache();
  const rows = vi.fn<() => Promise<Row[]>>(found);
  const from = (address: string, countFailure: () => Promise<void>) =>
    cache.find('hash', { ...requestWith(rows), address, countFailure });
  const refused = () => Promise.reject(new Error('429'));
  const results = await Promise.allSettled([
    from('192.0.2.1', refused),
    from('192.0.2.2', async () => {}),
    from('192.0.2.1', refused),
    from('', async () => {}),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(rows).toHaveBeenCalledTimes(1);
});

describe('a KV write', () => {
  test('does not happen if KV fails to tell whether an entry still exists', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const get = vi.fn<KeyNamespace['get']>(async () => ({
      ...ENTRY,
      checked: Date.now() - 6 * 60_000,
    }));
    const put = vi.fn<KeyNamespace['put']>(async () => {});
    const rows = async () => {
      get.mockRejectedValue(new Error('KV is having a bad day'));
      return found();
    };
    const deferred: Promise<unknown>[] = [];
    expect(
      await new KeyCache().find('hash', requestWith(rows, { get, put }, deferred)),
    ).toBeDefined();
    await Promise.all(deferred);
    expect(get).toHaveBeenCalledTimes(2);
    expect(put).not.toHaveBeenCalled();
  });

  test('that hangs keeps the result of its lookup for at most a second', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const cache = new KeyCache();
    await cache.find('hash', requestWith(found, { put: () => new Promise(() => {}) }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await cache.find('hash', requestWith(notFound))).toBeUndefined();
  });
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeyCache, type KeyNamespace, type KeyRequest } from '../../src/auth/key-cache.ts';
import type { Database, Row } from '../../src/db/client.ts';

// What cannot be produced in workerd on purpose: KV's copies at other locations, and a request that ends during a lookup.

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-03-01T00:00:00Z') }));
afterEach(() => vi.useRealTimers());

function requestWith(rows: () => Promise<Row[]>, get: KeyNamespace['get'] = async () => null): KeyRequest {
  return {
    kv: { get, put: async () => {} },
    db: { rows } as Partial<Database> as Database,
    requestId: 'r',
    stats: { keyCache: null },
    defer: () => {},
    countFailure: async () => {},
  };
}

const found = async (): Promise<Row[]> => [['hash', 'key id', 'account id', 'a@example.org', null, null]];

test('a location keeps its copy of a KV entry for 30 seconds', async () => {
  const get = vi.fn<KeyNamespace['get']>(async () => null);
  await new KeyCache().find('hash', requestWith(found, get));
  expect(get).toHaveBeenCalledWith('hash', { type: 'json', cacheTtl: 30 });
});

test('a lookup whose request has ended fails the others after 20 seconds, and the next request begins a new one', async () => {
  const cache = new KeyCache();
  const never = () => new Promise<Row[]>(() => {});
  const waiting = Promise.allSettled([cache.find('hash', requestWith(never))]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await waiting).toMatchObject([{ reason: { message: 'no result of the key lookup within 20000 ms' } }]);
  expect(await cache.find('hash', requestWith(found))).toMatchObject({ keyId: 'key id' });
});

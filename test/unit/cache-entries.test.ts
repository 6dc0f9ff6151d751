import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type KeyNamespace, readEntry, writeEntry } from '../../src/auth/cache-entries.ts';

/* A KV namespace that fails, hangs or keeps old entries cannot be had for real: it is played here. */

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.useRealTimers());

const kv = (parts: Partial<KeyNamespace>) => parts as KeyNamespace;
const key = { keyId: 'k', accountId: 'a', email: 'e', expires: null };

test('a cache that fails, hangs or holds another version counts as empty', async () => {
  expect(await readEntry(kv({ get: () => Promise.reject(new Error('KV GET failed: 500')) }), 'h', 'r')).toBeUndefined();
  expect(await readEntry(kv({ get: async () => ({ v: 1, keyId: 'k' }) }), 'h', 'r')).toBeUndefined();
  expect(await readEntry(kv({ get: async () => null }), 'h', 'r')).toBeUndefined();
  const hanging = readEntry(kv({ get: () => new Promise(() => {}) }), 'h', 'r');
  await vi.advanceTimersByTimeAsync(1000);
  expect(await hanging).toBeUndefined();
});

test.each([
  ['another version', { v: 1 }],
  ['no account', { accountId: undefined }],
  ['no key id', { keyId: undefined }],
  ['an account that is no text', { accountId: 7 }],
  ['no end', { expires: undefined }],
  ['no time', { checked: undefined }],
])('an entry with %s is none', async (_, change) => {
  const entry = { v: 2, ...key, checked: 0 };
  expect(await readEntry(kv({ get: async () => entry }), 'h', 'r')).toEqual(entry);
  expect(await readEntry(kv({ get: async () => ({ ...entry, ...change }) }), 'h', 'r')).toBeUndefined();
  expect(await readEntry(kv({ get: async () => 'nobody’s' }), 'h', 'r')).toBeUndefined();
});

test('a location keeps its copy for the least time that KV takes', async () => {
  const get = vi.fn<KeyNamespace['get']>(async () => null);
  await readEntry(kv({ get }), 'h', 'r');
  expect(get).toHaveBeenCalledWith('h', { type: 'json', cacheTtl: 30 });
});

test('an entry that cannot be written fails nobody', async () => {
  const failing = kv({ put: () => Promise.reject(new Error('KV PUT failed: 429')) });
  await expect(writeEntry(failing, 'h', key, 0, 'r')).resolves.toBeUndefined();
  const hanging = writeEntry(kv({ put: () => new Promise(() => {}) }), 'h', key, 0, 'r');
  await vi.advanceTimersByTimeAsync(1000);
  await expect(hanging).resolves.toBeUndefined();
});

test.each([
  [null, 86_400],
  [1_000 * 3600 * 100, 86_400],
  [1_000 * 600 + 1, 601],
  [1_000 * 20, 60], // the least that KV takes; that it has expired is seen by whoever reads it
])('an entry of a key that expires in %j ms lives for %i s', async (expires, seconds) => {
  const put = vi.fn<KeyNamespace['put']>(async () => {});
  await writeEntry(kv({ put }), 'h', { ...key, expires }, 0, 'r');
  expect(put).toHaveBeenCalledWith('h', expect.any(String), { expirationTtl: seconds });
});

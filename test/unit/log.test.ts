import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { logFailure, logRequest } from '../../src/http/log.ts';

const written = vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => written.mockClear());
afterAll(() => written.mockRestore());

test('redacts keys, hashes and connection strings anywhere in a line', async () => {
  const key = generateApiKey();
  const hash = await hashApiKey(key);
  const url = 'postgresql://user:pass%22word@host/db?sslmode=require';
  logFailure('it failed', { error: `for ${key}, {"${hash}"} at ${url}`, stack: `\n${key}\n${hash}\n${url}\n` });
  const text = String(written.mock.calls[0]?.[0]);
  for (const secret of [key, hash, 'pass', 'host']) expect(text).not.toContain(secret);
  expect(JSON.parse(text)).toEqual({ event: 'it failed', error: 'for …, {"…"} at …', stack: '\n…\n…\n…\n' });
});

test('redacts a truncated hash, and keeps ids of 32 digits', async () => {
  const hash = await hashApiKey(generateApiKey());
  logFailure('it failed', { error: `${hash.slice(0, 33)} ${hash.slice(0, 32)}` });
  expect(String(written.mock.calls[0]?.[0])).toContain(`"… ${hash.slice(0, 32)}"`);
});

test('redacts them in request lines too, and keeps ids', () => {
  using log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const requestId = crypto.randomUUID();
  logRequest({ requestId, method: generateApiKey(), rows: 12_345_678 });
  expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toEqual({
    event: 'request',
    requestId,
    method: '…',
    rows: 12_345_678,
  });
});

import { afterAll, expect, test, vi } from 'vitest';
import { generateApiKey, generateLimitedApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { logFailure, logRequest } from '../../src/http/log.ts';

const written = vi.spyOn(console, 'error').mockImplementation(() => {});
afterAll(() => written.mockRestore());

test('redacts keys, hashes and connection strings anywhere in a line, also a truncated hash, and keeps ids of 32 digits', async () => {
  const key = generateApiKey();
  const hash = await hashApiKey(key);
  const id = hash.slice(0, 32);
  const url = 'postgresql://user:pass%22word@host/db?sslmode=require';
  const error = new Error(`for ${key}, {"${hash}"} at ${url}`);
  error.stack = `\n${hash.slice(0, 33)}\n${id}\n${url}\n`;
  logFailure('it failed', id, error);
  const line = {
    event: 'it failed',
    requestId: id,
    error: 'for …, {"…"} at …',
    stack: `\n…\n${id}\n…\n`,
  };
  expect(JSON.parse(String(written.mock.calls[0]?.[0]))).toEqual(line);
});

test('redacts them in request lines too', () => {
  using log = vi.spyOn(console, 'log').mockImplementation(() => {});
  logRequest({ method: generateLimitedApiKey() });
  expect(log).toHaveBeenCalledWith('{"event":"request","method":"…"}');
});

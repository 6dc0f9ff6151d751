import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  apiKeyPrefix,
  generateApiKey,
  generateLimitedApiKey,
  hashApiKey,
  isLimitedApiKey,
  isWellFormedApiKey,
} from '../../src/auth/api-key.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('generated keys are unique, end with the CRC-32 of the rest, and are stored as a prefix and their SHA-256', async () => {
  const keys = [generateApiKey, generateLimitedApiKey].flatMap((generate) =>
    Array.from({ length: 100 }, generate),
  );
  expect(new Set(keys).size).toBe(200);
  expect(keys.filter(isLimitedApiKey)).toHaveLength(100);
  for (const key of keys) {
    expect(key).toMatch(
      isLimitedApiKey(key) ? /^sresl_[0-9A-Za-z]{49}$/ : /^sres_[0-9A-Za-z]{49}$/,
    );
    expect(isWellFormedApiKey(key)).toBe(true);
    const checksum = Array.from(key.slice(-6)).reduce(
      (sum, digit) => 62 * sum + DIGITS.indexOf(digit),
      0,
    );
    expect(checksum).toBe(crc32(key.slice(0, -6)));
    expect(apiKeyPrefix(key)).toBe(key.slice(0, key.indexOf('_') + 5));
    expect(await hashApiKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
  }
});

test('a key is malformed if any one character is changed, or it is followed by a line feed', () => {
  const key = generateApiKey();
  const change = (at: number) =>
    key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1);
  for (let at = 0; at < key.length; at++)
    expect(isWellFormedApiKey(change(at)), `at ${at}`).toBe(false);
  expect(isWellFormedApiKey(`${key}\n`)).toBe(false);
});

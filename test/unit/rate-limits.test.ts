import { expect, test, vi } from 'vitest';
import { addressOf, enforceLimit } from '../../src/auth/rate-limits.ts';
import { tooManyRequests } from '../../src/http/errors.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:0db8:0001:0002::/64'],
  ['::1', '0000:0000:0000:0000::/64'],
  ['1::2:3:4:5:6:7', '0001:0000:0002:0003::/64'],
  ['1:2:3:4:5:6:7:8:9:10::', '1:2:3:4:5:6:7:8:9:10::'], // not an address
])('counts %s as %s', (address, expected) => {
  expect(addressOf(new Headers({ 'CF-Connecting-IP': address }))).toBe(expected);
});

test('counts requests without an address together', () =>
  expect(addressOf(new Headers())).toBe('unknown'));

test('a rate limiter that fails limits no requests', async () => {
  using log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const failing = { limit: () => Promise.reject(new Error('unavailable')) };
  await expect(enforceLimit(failing, 'key', 'r', tooManyRequests)).resolves.toBeUndefined();
  expect(log).toHaveBeenCalledWith(expect.stringContaining('rate limiter failed'));
});

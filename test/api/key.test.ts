import { expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { fetchApi } from '../support/api.ts';
import { createAccount, storeKey } from '../support/data.ts';

test.each<[string, Date | null]>([
  ['null', null],
  ['"2126-03-01T00:03:43.770Z"', new Date('2126-03-01T00:03:43.770Z')],
  ['"2126-03-01T00:03:43.000Z"', new Date('2126-03-01T00:03:43Z')],
])('/key shows the account of the key and expires %s', async (shown, expires) => {
  const account = await createAccount();
  const key = generateApiKey();
  await storeKey(account.id, key, { expires });
  for (const times of ['', 'again, from the cache']) {
    const { status, text, headers } = await fetchApi('/key', { key });
    expect([times, status, text]).toEqual([times, 200, `{"email":"${account.email}","expires":${shown}}`]);
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(headers.get('Server-Timing')).toMatch(/^auth;dur=\d+, total;dur=\d+$/); // no query but the key's
  }
});

test('/key needs a key', async () => {
  expect((await fetchApi('/key')).status).toBe(401);
});

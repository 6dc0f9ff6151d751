import { expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { fetchApi } from '../support/api.ts';
import { createAccount, storeKey } from '../support/data.ts';

test('/key shows the account of the key and when it expires, without a query of its own', async () => {
  const account = await createAccount();
  const key = generateApiKey();
  await storeKey(account.id, key, { expires: new Date('2126-03-01T00:03:43Z') });
  for (const times of ['', 'again, from the cache']) {
    const { status, text, headers } = await fetchApi('/key', { key });
    const body = `{"email":"${account.email}","expires":"2126-03-01T00:03:43.000Z"}`;
    expect([times, status, text]).toEqual([times, 200, body]);
    expect(headers.get('Server-Timing')).toMatch(/^auth;dur=\d+, total;dur=\d+$/);
  }
});

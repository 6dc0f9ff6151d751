import { expect, test } from 'vitest';
import { generateApiKey, generateLimitedApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { fetchApi } from '../support/api.ts';
import { createAccount, storeKey } from '../support/data.ts';
import { sendRaw } from '../support/raw-http.ts';
import { stackAddress } from '../support/stack-address.ts';

const account = await createAccount();

/**
 * RFC 6750 section 2.1: `"Bearer" 1*SP b64token`. RFC 9110: the scheme is case-insensitive, and
 * space around a value is ignored.
 */
test.each<[headers: string[], status: number]>([
  [['Authorization: Bearer KEY'], 200],
  [['authorization:bearer  KEY '], 200],
  [['AUTHORIZATION:\tBEARER KEY\t'], 200],
  [[], 401],
  [['Authorization: Bearer'], 401],
  [['Authorization: Bearer\tKEY'], 401],
  [['Authorization: Bearer KEY, Bearer KEY'], 401],
  [['Authorization: \xff\xfe'], 401],
  [['Authorization: KEY'], 401],
  [['Authorization: Bearer HASH'], 401],
  [[`Authorization: Bearer ${'x'.repeat(8192)}`], 401],
  [['Authorization: Bearer KEY', 'Authorization: Basic x'], 401],
  [['Authorization: Basic BASIC:KEY'], 200],
  [['authorization: basic  BASIC:any user:KEY '], 200],
  [['Authorization: Basic BASIC:KEY:any password'], 200],
  [['Authorization: Basic BASIC:KEY:OTHER'], 401],
  [['Authorization: Basic KEY'], 401],
  [['Authorization: Basic BASIC:any user:KEY:x'], 401],
  [['Proxy-Authorization: Bearer KEY', 'X-Api-Key: KEY', 'Cookie: access_token=KEY'], 401],
])(
  'the header Authorization is the only source of a key, the query is none: %j: %i',
  async (headers, status) => {
    const hash = await hashApiKey(account.key);
    const target = `/api/v1/surveys?access_token=${account.key}&key=${account.key}`;
    const encode = (_: string, credentials: string) =>
      btoa(credentials.includes(':') ? credentials : `:${credentials}`);
    const sent = headers.map((header) =>
      header
        .replace('HASH', hash)
        .replace('OTHER', generateApiKey())
        .replace(/(?<=BASIC.*)KEY/, account.key)
        .replace(/BASIC:(.*?) ?$/, encode),
    );
    const request = { method: 'GET', target, headers: sent };
    expect((await sendRaw(new URL(stackAddress().directOrigin), request, account.key)).status).toBe(
      status,
    );
  },
);

test('/key shows the account of the key and when it expires, without a query of its own', async () => {
  const key = generateApiKey();
  await storeKey(account.id, key, { expires: new Date('2126-03-01T00:03:43Z') });
  for (const times of ['', 'again, from the cache']) {
    const { status, text, headers } = await fetchApi('/key', { key });
    const body = `{"email":"${account.email}","expires":"2126-03-01T00:03:43.000Z","limits":null}`;
    expect([times, status, text]).toEqual([times, 200, body]);
    expect(headers.get('Server-Timing')).toMatch(/^auth;dur=\d+, total;dur=\d+$/);
  }
});

test('/key shows what a limited key sees, without hidden names and its secret', async () => {
  const key = generateLimitedApiKey();
  const shown = { v: 1, surveys: ['a'], shortcodes: ['f'], questions: ['q'] };
  const secret = '0f'.repeat(32);
  const limits = { ...shown, without_questions: ['x', 'y'], metadata: [], pageid: false, secret };
  await storeKey(account.id, key, { limits });
  const { text } = await fetchApi('/key', { key });
  const others = '"without_questions":2,"metadata":[],"pageid":false,"pseudonyms":"9b68d49b"';
  expect(text).toContain(`"limits":${JSON.stringify(shown).slice(0, -1)},${others}}`);
});

test.each([
  ['a limited key', generateLimitedApiKey(), { v: 1 }, 200],
  ['a limited key without limits', generateLimitedApiKey(), null, 401],
  ['another key with limits', generateApiKey(), { v: 1 }, 401],
  ['a limited key with an unknown limit', generateLimitedApiKey(), { v: 1, waves: [] }, 401],
])('%s gets %4$i', async (_, key, limits, status) => {
  await storeKey(account.id, key, { limits });
  expect((await fetchApi('/surveys', { key })).status).toBe(status);
});

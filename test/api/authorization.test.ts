import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { fetchApi, errorBody, origin } from '../support/api.ts';
import { type TestAccount, createAccount } from '../support/data.ts';

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

/** Sends headers that fetch would refuse or merge. @returns the status */
async function statusFor(headers: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(origin());
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines = ['GET /api/v1/surveys HTTP/1.1', 'Host: localhost', 'Connection: close', ...headers, '', ''];
  socket.write(Buffer.from(lines.join('\r\n'), 'latin1'));
  const response = await text(socket);
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1]);
}

/** RFC 6750 section 2.1: `"Bearer" 1*SP b64token`. RFC 9110: the scheme is case-insensitive, and space around a value is ignored. */
const VARIANTS: [string[], number][] = [
  [['Authorization: Bearer KEY'], 200],
  [['authorization:bearer  KEY '], 200],
  [['AUTHORIZATION:\tBEARER KEY\t'], 200],
  [[], 401],
  [['Authorization: '], 401],
  [['Authorization: Bearer'], 401],
  [['Authorization: Bearer\tKEY'], 401],
  [['Authorization: Bearer KEY KEY'], 401],
  [['Authorization: Bearer KEY, Bearer KEY'], 401],
  [['Authorization: Bearer "KEY"'], 401],
  [['Authorization: Bearer KEY='], 401],
  [['Authorization: Bearer KEYé'], 401],
  [['Authorization: \xff\xfe'], 401],
  [['Authorization: KEY'], 401],
  [['Authorization: Token KEY'], 401],
  [['Authorization: Bearer HASH'], 401],
  [[`Authorization: Bearer ${'x'.repeat(8192)}`], 401],
  [['Authorization: Bearer KEY', 'Authorization: Basic x'], 401],
  [['Proxy-Authorization: Bearer KEY', 'X-Api-Key: KEY', 'Cookie: access_token=KEY'], 401],
];

describe('the Authorization header', () => {
  test.each(VARIANTS)('%j: %i', async (headers, status) => {
    const hash = await hashApiKey(account.key);
    const sent = headers.map((header) => header.replaceAll('KEY', account.key).replaceAll('HASH', hash));
    expect(await statusFor(sent)).toBe(status);
  });

  test('is the only source of a key: the query is none', async () => {
    for (const name of ['access_token', 'key']) {
      const response = await fetchApi(`/surveys?${name}=${account.key}`);
      expect([response.status, response.text]).toEqual([401, errorBody('Invalid Token.')]);
    }
  });
});

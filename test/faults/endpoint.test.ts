import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService();
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createSurvey(await createAccount());
  await addResponses(survey, [{}]);
  await fetchSummary(); // caches the key
});

const fetchSummary = () => fetchApi(`/responses/summary${query({ survey: survey.name })}`, survey.account);
const isSummary = ({ query: text }: Exchange) => text.includes('answered');
/** Far more than a summary can have, and than is read of an error. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, ' ');

test('a redirect of the SQL endpoint is not followed, because the request has the password', async () => {
  const followed: string[] = [];
  const other = createServer((request, response) => {
    followed.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/sql`;
  for (const status of [301, 302, 303, 307, 308]) {
    service.proxy.inject((exchange) => exchange.reply(status, '', { location }));
    const response = await fetchSummary();
    expect([status, response.status, response.headers.get('X-Error-Code')]).toEqual([status, 500, 'internal_error']);
  }
  other.close();
  expect(followed).toEqual([]);
});

test.each<[what: string, status: number, code: string, reply: (exchange: Exchange) => void]>([
  ['a result without a length', 400, 'export_too_large', (exchange) => exchange.reply(200, LARGE)],
  ['an error of Postgres', 500, 'internal_error', (exchange) => exchange.reply(400, LARGE)],
  ['an error of the endpoint', 500, 'internal_error', (exchange) => exchange.reply(413, LARGE)],
])('no more is read of %s than allowed', async (_, status, code, reply) => {
  service.proxy.inject((exchange) => {
    if (isSummary(exchange)) reply(exchange);
  });
  const response = await fetchSummary();
  expect([response.status, response.headers.get('X-Error-Code')]).toEqual([status, code]);
  await expect.poll(() => service.proxy.abandoned).toBe(1);
});

test('a limit counts the bytes of a result, not those of its compressed form', async () => {
  service.proxy.inject((exchange) => {
    if (isSummary(exchange)) exchange.reply(200, gzipSync(LARGE), { 'content-encoding': 'gzip' });
  });
  expect((await fetchSummary()).headers.get('X-Error-Code')).toBe('export_too_large');
});

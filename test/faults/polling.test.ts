import { beforeAll, expect, test } from 'vitest';
import { type Page, fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService();

let survey: TestSurvey;
let token: string;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'polled', 2);
  await addResponses(
    survey,
    Array.from({ length: 50 }, (_, i) => ({ form: i % 2, question_ref: `q${i}`, response: 'x'.repeat(1000) })),
  );
  const { text } = await get(pathOf({ pageSize: 50 }));
  token = (JSON.parse(text) as Page).responses.at(-1)?.token ?? '';
});

const pathOf = (parameters: Record<string, string | number>) =>
  `/responses${query({ survey: survey.name, ...parameters })}`;

const get = (path: string, headers: Record<string, string> = {}) =>
  fetchApi(path, { key: survey.account.key, headers });

test.each([
  ['a full page', () => pathOf({ pageSize: 25 }), 2],
  ['an empty page', () => pathOf({ after: token }), 3],
  ['the surveys', () => '/surveys', 1],
])('a poll of %s takes no more queries than a first request', async (_, path, requests) => {
  service.proxy.inject();
  const etag = (await get(path())).headers.get('ETag') ?? '';
  expect(service.proxy.requests).toBe(requests);
  expect((await get(path(), { 'If-None-Match': etag })).status).toBe(304);
  expect(service.proxy.requests).toBe(2 * requests);
});

test('a page that is streamed has no tag', async () => {
  service.proxy.inject((exchange) => {
    if (exchange.query.includes('question_text') && Number(exchange.params[0]) > 10)
      exchange.reply(507, 'response is too large (max is 67108864 bytes)');
  });
  const { status, headers, text } = await get(pathOf({ pageSize: 50 }));
  expect([status, headers.get('ETag'), (JSON.parse(text) as Page).responses.length]).toEqual([200, null, 50]);
});

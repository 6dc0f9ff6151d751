import { beforeAll, expect, test } from 'vitest';
import { type Page, ask, query } from '../support/api.ts';
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
  const { text } = await askFor(pathOf({ pageSize: 50 }));
  token = (JSON.parse(text) as Page).responses.at(-1)?.token ?? '';
});

const pathOf = (parameters: Record<string, string | number>) =>
  `/responses${query({ survey: survey.name, ...parameters })}`;

const askFor = (path: string, headers: Record<string, string> = {}) => ask(path, { key: survey.account.key, headers });

/** The SQL that a request makes the Worker send. */
async function queriesOf(request: () => Promise<{ status: number }>): Promise<{ status: number; queries: string[] }> {
  const queries: string[] = [];
  service.proxy.inject((exchange) => void queries.push(exchange.query));
  const { status } = await request();
  return { status, queries };
}

test.each([
  ['a full page', () => pathOf({ pageSize: 25 }), 2],
  ['an empty page', () => pathOf({ after: token }), 3],
  ['the surveys', () => '/surveys', 1],
])('a 304 for %s asks the database for versions, and for nothing that is large', async (_, path, requests) => {
  const etag = (await askFor(path())).headers.get('ETag') ?? '';
  const { status, queries } = await queriesOf(() => askFor(path(), { 'If-None-Match': etag }));
  expect(status).toBe(304);
  expect(queries).toHaveLength(requests);
  expect(queries.join()).not.toMatch(/question_text|metadata|title/);
});

test('without If-None-Match, or with one that cannot be read, no version is asked for', async () => {
  for (const headers of [{}, { 'If-None-Match': 'garbage' }]) {
    const { status, queries } = await queriesOf(() => askFor(pathOf({}), headers));
    expect(status).toBe(200);
    expect(queries).toHaveLength(2);
    expect(queries.join()).not.toContain('string_agg');
  }
});

test('what a file is made of is read without versions', async () => {
  for (const format of ['csv', 'ndjson']) {
    const { queries } = await queriesOf(() => askFor(`/responses/${format}${query({ survey: survey.name })}`));
    expect(queries.join()).not.toContain('xmin');
  }
});

test('a page that is sent in parts has no tag', async () => {
  service.proxy.inject((exchange) => {
    if (exchange.query.includes('question_text') && Number(exchange.params[0]) > 10)
      exchange.reply(507, 'response is too large (max is 67108864 bytes)');
  });
  const { status, headers, text } = await askFor(pathOf({ pageSize: 50 }));
  expect([status, headers.get('ETag'), (JSON.parse(text) as Page).responses.length]).toEqual([200, null, 50]);
});

test('a poll is 503 when the database cannot be reached', async () => {
  service.proxy.inject((exchange) => exchange.reply(503, 'no'));
  expect((await askFor('/surveys', { 'If-None-Match': '"a"' })).status).toBe(503);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { type Page, fetchApi, fetchService, query } from '../support/api.ts';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { parseCsv } from '../support/csv.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { lineOf, linesIn, untilLogged } from '../support/request-log.ts';
import { withFaultyService, withoutRetries } from './service.ts';

const service = withFaultyService({ limits: { FAILURE_LIMIT: 8 } });

const ROWS = 1200;
let survey: TestSurvey;
let keyId: string;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'logged survey', 2);
  await addResponses(
    survey,
    Array.from({ length: ROWS }, (_, i) => ({
      form: i % 2,
      userid: `user ${i % 100}`,
      question_ref: `q${i % 24}é`,
      timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
    })),
  );
  await fetchApi('/surveys', { key: survey.account.key }); // caches the key
  const [row] = await sql<{ id: string }>('select id from api_keys where userid = $1', [survey.account.id]);
  keyId = row?.id ?? '';
});

/** Sends a request. @returns its log line, its response and its number of SQL requests */
async function logged(path: string, options: Parameters<typeof fetchApi>[1] = { key: survey.account.key }) {
  service.proxy.inject();
  const { line, result: response } = await lineOf(service.stack.worker, () => fetchService(path, options));
  expect(line.requestId).toBe(response.headers.get('X-Request-Id'));
  return { line, response, requests: service.proxy.requests };
}

const api = (path: string, parameters: Record<string, string | number> = {}) =>
  `/api/v1${path}${query({ survey: survey.name, ...parameters })}`;

const countRecords = (text: string) => parseCsv(Buffer.from(text)).length;

test.each([
  ['/surveys', {}, (text: string) => (JSON.parse(text) as unknown[]).length],
  ['/responses', { pageSize: 700 }, (text: string) => (JSON.parse(text) as Page).responses.length],
  ['/responses', { since: '2030-01-01' }, () => 0],
  ['/responses/csv', {}, countRecords],
  ['/responses/csv', { since: '2030-01-01' }, countRecords],
  ['/responses/csv', { layout: 'wide' }, () => ROWS],
  ['/responses/ndjson', {}, (text: string) => text.split('\n').length - 1],
  ['/responses/form-data', {}, countRecords],
  ['/responses/questions', { format: 'csv' }, countRecords],
  ['/responses/summary', {}, (text: string) => (JSON.parse(text) as { days: unknown[] }).days.length],
  ['/responses/digests', {}, (text: string) => (JSON.parse(text) as { digests: unknown[] }).digests.length],
])(
  'a request for %s %j is logged with its rows, bytes and SQL requests, and with HEAD without rows',
  async (path, parameters, rows) => {
    const { line, response, requests } = await logged(api(path, parameters));
    expect(response.status).toBe(200);
    expect(line).toEqual({
      event: 'request',
      requestId: line.requestId,
      method: 'GET',
      route: `/api/v1${path}`,
      accountId: survey.account.id,
      keyId,
      status: 200,
      rows: rows(response.text),
      bytes: response.bytes.length,
      durationMs: expect.any(Number),
      sqlRequests: requests,
      retries: 0,
      keyCache: 'hit',
      end: 'complete',
    });
    expect(line.sqlRequests).toBeGreaterThan(0);
    expect(line.durationMs).toBeLessThan(60_000);
    const head = await logged(api(path, parameters), { key: survey.account.key, method: 'HEAD' });
    const [method, sqlRequests] = ['HEAD', head.requests];
    expect(head.line).toMatchObject({ method, route: line.route, status: 200, rows: 0, bytes: 0, sqlRequests });
  },
);

test('bytes are counted before compression', async () => {
  for (const path of [api('/responses/csv'), api('/responses', { pageSize: 500 })]) {
    const plain = await logged(path);
    const zipped = await logged(path, {
      key: survey.account.key,
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect(zipped.response.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped.line.bytes).toBe(plain.response.bytes.length);
  }
});

describe('logs without rows:', () => {
  test.each([
    ['a full page', () => api('/responses'), 2],
    ['an empty page', async () => api('/responses', { after: await lastToken() }), 3],
    ['the surveys', () => '/api/v1/surveys', 1],
  ])('304 of %s, which takes no more SQL requests than a first request', async (_, path, sqlRequests) => {
    const { key } = survey.account;
    const address = await path();
    const first = await logged(address, { key });
    expect(first.line).toMatchObject({ status: 200, sqlRequests });
    const headers = { 'If-None-Match': first.response.headers.get('ETag') ?? '' };
    const { line, requests } = await logged(address, { key, headers });
    expect(line).toMatchObject({ status: 304, rows: 0, bytes: 0, sqlRequests, end: 'complete' });
    expect(requests).toBe(sqlRequests);
  });

  async function lastToken(): Promise<string> {
    const { response } = await logged(api('/responses', { pageSize: ROWS }));
    return (JSON.parse(response.text) as Page).responses.at(-1)?.token ?? '';
  }

  test('a preflight', async () => {
    const { line } = await logged(api('/responses/csv'), {
      method: 'OPTIONS',
      headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'GET' },
    });
    expect(line).toMatchObject({ method: 'OPTIONS', status: 204, bytes: 0, accountId: null, end: 'complete' });
  });

  const open: [string, string | null][] = [
    ['/healthz', '/healthz'],
    ['/openapi.json', '/openapi.json'],
    ['/nowhere?survey=secret', null],
  ];
  test.each(open)('%s, without a key', async (path, route) => {
    const { line, response } = await logged(path, {});
    expect(line).toMatchObject({
      route,
      status: response.status,
      rows: 0,
      bytes: response.bytes.length,
      end: 'complete',
    });
    expect(line).toMatchObject({ accountId: null, keyId: null, keyCache: null });
  });

  test('400, 404, 405 and 500', async () => {
    const { key } = survey.account;
    const cases: [string, number, string | null, Parameters<typeof fetchApi>[1]][] = [
      [api('/responses', { pageSize: 0 }), 400, '/api/v1/responses', { key }],
      ['/api/v1/nowhere', 404, null, { key }],
      [api('/surveys'), 405, '/api/v1/surveys', { key, method: 'POST' }],
      ['/api/v1/responses?survey=none', 500, '/api/v1/responses', { key }],
    ];
    for (const [path, status, route, options] of cases) {
      const { line, response } = await logged(path, options);
      expect(line).toMatchObject({ status, route, rows: 0, bytes: response.bytes.length, end: 'complete' });
      expect(line.accountId).toBe(survey.account.id);
    }
  });
});

test('logs one key cache miss, then hits, and counts the queries about the key', async () => {
  const { key, id } = await createAccount();
  const first = await logged('/api/v1/nowhere', { key });
  expect(first.line).toMatchObject({ keyCache: 'miss', accountId: id, status: 404, sqlRequests: 2 }); // the lookup, and last_used
  await expect.poll(async () => (await logged('/api/v1/nowhere', { key })).line.keyCache).toBe('hit');
  const { line, requests } = await logged('/api/v1/nowhere', { key });
  expect([line.keyCache, line.sqlRequests, requests]).toEqual(['hit', 0, 0]);
});

test('logs each of many concurrent requests without a valid key, as 401 or 429', async () => {
  const worker = service.stack.worker;
  const none = await logged('/api/v1/surveys', {});
  expect(none.line).toMatchObject({ status: 401, route: '/api/v1/surveys', accountId: null, keyCache: null });
  const unknown = await logged('/api/v1/surveys', { key: generateApiKey() });
  expect(unknown.line).toMatchObject({ status: 401, accountId: null, keyId: null, keyCache: 'miss', sqlRequests: 1 });
  const before = await untilLogged(worker);
  const responses = await Promise.all(Array.from({ length: 20 }, () => fetchApi('/surveys')));
  expect(await untilLogged(worker)).toBe(before + 20);
  const byId = new Map(linesIn(worker).map((line) => [line.requestId, line.status]));
  for (const { status, headers } of responses) expect(byId.get(headers.get('X-Request-Id') ?? '')).toBe(status);
  expect(responses.map(({ status }) => status)).toContain(429);
});

const ANSWER = 'Zitronengras';
const USER = 'participant-4711';
const SURVEY = 'Quittenumfrage';

const PATHS = [
  '/surveys',
  '/responses',
  '/responses/csv',
  '/responses/csv?layout=wide',
  '/responses/ndjson',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
  '/responses/digests',
  '/nowhere',
].map((path) => `/api/v1${path}`);

/** The faults. The database's error messages may be logged; its results must not be. */
const FAULTS: [string, ((exchange: Exchange) => void) | undefined][] = [
  ['nothing fails', undefined],
  ['SQL results break off', (exchange) => exchange.cutAfter(300)],
  ['SQL results are not JSON', (exchange) => exchange.reply(200, `[${ANSWER}]`)],
  [
    'the database returns an error',
    (exchange) => exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}'),
  ],
];

let secretive: TestSurvey;
beforeAll(async () => {
  secretive = await createSurvey(await createAccount(), SURVEY, 2);
  await addResponses(
    secretive,
    Array.from({ length: 60 }, (_, i) => ({ form: i % 2, userid: USER, response: `${ANSWER} ${'x'.repeat(100)}` })),
  );
});

test.each(FAULTS)(
  'no log line has a key, its hash, an e-mail address, a survey’s name or an answer when %s',
  async (name, fault) => {
    // An address of its own, whose limit no other test uses up.
    const headers = { 'CF-Connecting-IP': `192.0.2.${1 + FAULTS.findIndex(([other]) => other === name)}` };
    const { account } = secretive;
    const { worker } = service.stack;
    const unknown = generateApiKey();
    await fetchService('/api/v1/nowhere', { key: account.key, headers }); // caches the key
    const before = await untilLogged(worker);
    service.proxy.inject(fault);
    const authorised = PATHS.flatMap((path) => {
      const address = `${path.replace(/\?.*/, '')}${query({ survey: SURVEY, userid: USER, layout: path.split('layout=')[1] })}`;
      return [
        ...['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) =>
          fetchService(address, { key: account.key, method, headers }),
        ),
        fetchService(address, { headers }),
        fetchService(`${path.replace(/\?.*/, '')}${query({ survey: `no ${SURVEY}` })}`, { key: account.key, headers }),
      ];
    });
    const unauthorised = fetchService(PATHS[0] ?? '', { key: unknown, headers });
    const responses = await withoutRetries(Promise.all([...authorised, unauthorised]));
    expect(new Set(responses.map(({ status }) => status)).size).toBeGreaterThan(4);
    expect(await untilLogged(worker)).toBe(before + responses.length);

    const log = worker.log();
    const secrets = [account.key, await hashApiKey(account.key), unknown, await hashApiKey(unknown), account.email];
    for (const secret of [...secrets, SURVEY, ANSWER, USER]) expect(log).not.toContain(secret);
  },
);

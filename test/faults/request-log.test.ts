import { describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { get, rowsOf } from '../api/requests.ts';
import { errorBody, fetchApi, fetchService, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { copyResponses, createBulkSurvey, sql, storeSurvey } from '../support/data.ts';
import { beginExport, download } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { type RequestLine, eventsIn, lineOf, untilLogged } from '../support/request-log.ts';
import {
  FEW_RETRIES,
  PAGED_ROWS,
  createPagedSurvey,
  endRetries,
  leave,
  startFaultyService,
  withoutRetries,
} from './service.ts';

const service = await startFaultyService({ vars: { PAGE: 'off' } });

const ROWS = 1200;
/** More than sockets and the pages read ahead can hold. */
const BULK_ROWS = 5000;
const ANSWER = 'Zitronengras';
const USER = 'participant-4711';

const survey = await storeSurvey(
  Array.from({ length: ROWS }, (_, i) => ({
    form: i % 2,
    userid: `${USER} ${i % 100}`,
    question_ref: `q${i % 24}é`,
    response: ANSWER,
    timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
  })),
  { name: 'Quittenumfrage' },
);
const paged = await createPagedSurvey();
const bulk = await createBulkSurvey(paged.account, {
  rows: BULK_ROWS,
  forms: 5,
  columns: { response: `repeat('x', 4000)` },
});
for (const { account } of [survey, paged]) await fetchApi('/surveys', account); // caches the keys
const [{ id: keyId } = { id: '' }] = await sql<{ id: string }>(
  'select id from api_keys where userid = $1',
  [survey.account.id],
);

/** Does something that sends one request. @returns its log line */
const logged = <T>(work: () => Promise<T>) => lineOf(service.stack.worker, work);

/** Sends a request. @returns its log line, its response and its number of SQL requests */
async function fetchLogged(
  path: string,
  options: Parameters<typeof fetchApi>[1] = { key: survey.account.key },
) {
  service.proxy.inject();
  const { line, result: response } = await logged(() => fetchService(path, options));
  expect(line.requestId).toBe(response.headers.get('X-Request-Id'));
  return { line, response, requests: service.proxy.requests };
}

const api = (path: string, parameters: Record<string, string | number> = {}) =>
  `/api/v1${path}${query({ survey: survey.name, ...parameters })}`;

const countRecords = (text: string) => parseCsv(Buffer.from(text)).length;

test.each([
  ['/surveys', {}, (text: string) => (JSON.parse(text) as unknown[]).length],
  ['/responses', { pageSize: 700 }, (text: string) => rowsOf({ text }).length],
  ['/responses/csv', {}, countRecords],
  ['/responses/csv', { layout: 'wide' }, () => ROWS],
  ['/responses/questions', { format: 'csv' }, countRecords],
  [
    '/responses/summary',
    {},
    (text: string) => (JSON.parse(text) as { days: unknown[] }).days.length,
  ],
])(
  'a request for %s %j is logged with its rows, bytes and SQL requests, and with HEAD without rows',
  async (path, parameters, rows) => {
    const { line, response, requests } = await fetchLogged(api(path, parameters));
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
    const head = await fetchLogged(api(path, parameters), {
      key: survey.account.key,
      method: 'HEAD',
    });
    const [method, sqlRequests] = ['HEAD', head.requests];
    expect(head.line).toMatchObject({
      method,
      route: line.route,
      status: 200,
      rows: 0,
      bytes: 0,
      sqlRequests,
    });
  },
);

test.each([
  ['a full page', api('/responses'), 1],
  ['an empty page', api('/responses', { since: '2030-01-01' }), 2],
  ['the surveys', '/api/v1/surveys', 1],
])(
  '304 of %s is logged without rows, and takes as many SQL requests as 200',
  async (_, path, most) => {
    await fetchService(path, survey.account); // the form versions are known then
    const first = await fetchLogged(path);
    expect(first.line).toMatchObject({ status: 200, sqlRequests: most });
    const headers = { 'If-None-Match': first.response.headers.get('ETag') ?? '' };
    const { line } = await fetchLogged(path, { key: survey.account.key, headers });
    expect(line).toMatchObject({
      status: 304,
      rows: 0,
      bytes: 0,
      sqlRequests: most,
      end: 'complete',
    });
  },
);

const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'GET' },
};

test.each<[path: string, status: number, route: string | null, hasKey: boolean, options?: object]>([
  ['/api/v1/responses/csv', 204, null, false, PREFLIGHT],
  ['/healthz', 200, '/healthz', false],
  ['/openapi.json', 200, '/openapi.json', false],
  ['/nowhere?survey=secret', 404, null, false],
  ['/api/v1/surveys', 401, '/api/v1/surveys', false],
  ['/api/v1/responses?pageSize=0', 400, '/api/v1/responses', true],
  ['/api/v1/nowhere', 404, null, true],
  ['/api/v1/surveys', 405, '/api/v1/surveys', true, { method: 'POST' }],
  ['/api/v1/responses?survey=none', 500, '/api/v1/responses', true],
])(
  '%s with status %i is logged without rows',
  async (path, status, route, hasKey, options = {}) => {
    const { line, response } = await fetchLogged(path, {
      ...options,
      ...(hasKey ? { key: survey.account.key } : {}),
    });
    expect(line).toMatchObject({
      status,
      route,
      rows: 0,
      bytes: response.bytes.length,
      end: 'complete',
    });
    const known = { accountId: survey.account.id, keyId, keyCache: 'hit' };
    expect(line).toMatchObject(hasKey ? known : { accountId: null, keyId: null, keyCache: null });
  },
);

test('the page is not found if the variable PAGE is off, and the reference still is', async () => {
  expect((await fetchService('/docs')).status).toBe(200);
  for (const path of ['/', '/index.html']) {
    const { status, text } = await fetchService(path);
    const message =
      'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.';
    expect([path, status, text]).toEqual([path, 404, errorBody(message)]);
  }
});

test('an export is logged with its rows and retries', async () => {
  let faults = 0;
  service.proxy.inject((exchange) => {
    if (![0, 2, 5].includes(exchange.index)) return;
    faults++;
    exchange.reset();
  });
  const { line, result } = await logged(() => download(paged));
  const [bytes, sqlRequests] = [result.bytes.length, service.proxy.requests];
  expect(line).toMatchObject({
    rows: PAGED_ROWS,
    bytes,
    retries: faults,
    sqlRequests,
    end: 'complete',
  });
  expect(faults).toBe(3);
});

/** The bytes of a file that the Worker writes at a time. */
const WRITE_BYTES = 256 * 1024;

describe('an export whose client disconnects', () => {
  test.each([
    ['while it is sent', Infinity, {}, 1_000_000],
    ['while it is compressed', Infinity, { 'Accept-Encoding': 'gzip' }, 0],
    ['while the next page is being read', 4, {}, 1_000_000],
  ])('%s is logged with what was sent so far', async (_, hangsFrom, headers, most) => {
    service.proxy.inject((exchange) => {
      if (exchange.index >= hangsFrom) exchange.hang();
    });
    let received = 0;
    const { line } = await logged(async () => {
      const response = await beginExport(bulk, { headers });
      response.on('data', ({ length }: Buffer) => {
        received += length;
        if (received > most) response.pause();
      });
      await expect.poll(() => received).toBeGreaterThan(most);
      response.socket.resetAndDestroy();
    });
    expect(line).toMatchObject({ route: '/api/v1/responses/csv', status: 200, end: 'client left' });
    // a write counts when all of it has been taken
    expect(line.bytes).toBeGreaterThan(received - WRITE_BYTES);
    expect(line.bytes).toBeLessThan(4000 * BULK_ROWS);
    expect(line).not.toHaveProperty('reason');
    expect(line.rows).toBeLessThan(BULK_ROWS); // they count when their page is complete
  });

  test('before the first byte is logged', async () => {
    const address = query({ survey: bulk.name });
    const { key } = bulk.account;
    // the form versions are known then
    await fetchApi(`/responses${address}`, { key });
    service.proxy.inject((exchange) => {
      if (exchange.query.includes('from responses')) exchange.hang();
    });
    const failures = eventsIn(service.stack.worker, 'request failed').length;
    const { line } = await logged(() =>
      leave(`/responses/csv${address}`, key, async () => {
        await expect.poll(() => service.proxy.requests).toBe(1);
      }),
    );
    expect(line).toMatchObject({
      status: null,
      rows: 0,
      bytes: 0,
      sqlRequests: 1,
      end: 'client left',
    });
    // the service did not fail
    expect(eventsIn(service.stack.worker, 'request failed')).toHaveLength(failures);
  });
});

describe('an export that fails', () => {
  const defect = '{"message":"no such table","code":"42P01","severity":"ERROR"}';
  const detailsOf = (event: string, { requestId }: RequestLine) =>
    eventsIn(service.stack.worker, event).filter((details) => details['requestId'] === requestId);

  test.each<[reason: string, fault: (exchange: Exchange) => void]>([
    ['database: transient', (exchange) => exchange.reset()],
    ['database: defect', (exchange) => exchange.reply(400, defect)],
  ])(
    'after the first byte is logged with its reason, %s, what its client received, and its details once',
    async (reason, fault) => {
      service.proxy.inject((exchange) => {
        if (exchange.index >= 6) fault(exchange);
      });
      const { line, result } = await logged(() => download(paged, { headers: FEW_RETRIES }));
      const { complete, bytes } = result;
      expect(complete).toBe(false);
      // the file contains no error message
      expect((await copyResponses(paged)).subarray(0, bytes.length).equals(bytes)).toBe(true);
      const isDefect = reason === 'database: defect';
      // What is sent when an error ends the transfer at once may be lost.
      const received = isDefect ? {} : { bytes: bytes.length, rows: parseCsv(bytes).length };
      expect(line).toMatchObject({ status: 200, end: 'failed', reason, ...received });
      const details = detailsOf('export failed', line);
      expect(details).toHaveLength(1);
      expect(details[0]?.['stack'] !== undefined).toBe(isDefect);
    },
  );

  test('has retried its first page as any request, but a later one only for EXPORT_RETRY_SECONDS', async () => {
    let pages = 0;
    service.proxy.inject((exchange) => {
      if (exchange.query.includes('question_text') && [0, 2].includes(pages++)) exchange.reset();
    });
    const headers = { 'Test-Retry-Seconds': '0' };
    const { line } = await logged(() => download(paged, { headers }));
    expect(line).toMatchObject({ status: 200, retries: 1, end: 'failed' });
  });

  const fetchCsv = () => get('/responses/csv', paged);

  test('before the first byte gets 503, and is logged with its retries, without a stack', async () => {
    service.proxy.inject((exchange) => exchange.reset());
    const { line, result } = await logged(async () => {
      const response = fetchCsv();
      await expect.poll(() => service.proxy.requests).toBeGreaterThan(2);
      await endRetries();
      return response;
    });
    expect(result.status).toBe(503);
    const { requests: sqlRequests } = service.proxy;
    const retries = sqlRequests - 1;
    expect(line).toMatchObject({ status: 503, sqlRequests, retries, rows: 0, end: 'complete' });
    expect(line.bytes).toBe(result.bytes.length);
    const details = {
      event: 'request failed',
      requestId: line.requestId,
      error: expect.any(String),
    };
    expect(detailsOf('request failed', line)).toEqual([details]);
  });

  test('by a defect before the first byte gets 500, and is logged once with its stack', async () => {
    service.proxy.inject((exchange) => exchange.reply(400, defect));
    const { line, result } = await logged(fetchCsv);
    const message = `Something went wrong on our side. Please tell us this request id: ${line.requestId}`;
    expect([result.status, result.text]).toEqual([500, errorBody(message)]);
    expect(line).toMatchObject({ status: 500, retries: 0, end: 'complete' });
    const details = detailsOf('request failed', line);
    expect(details).toHaveLength(1);
    expect(details[0]?.['stack']).toContain('no such table');
  });
});

test('no log line has a key, its hash, an e-mail address, a survey’s name or an answer', async () => {
  const { account, name } = survey;
  const { worker } = service.stack;
  const unknown = generateApiKey();
  await fetchApi('/surveys', { key: unknown });
  service.proxy.inject((exchange) => exchange.reply(200, `[${ANSWER}]`));
  const paths = ['/responses', '/responses/csv', '/responses/summary', '/responses/digests'];
  const responses = paths.map((path) =>
    fetchApi(path + query({ survey: name, userid: USER }), account),
  );
  await withoutRetries(Promise.all(responses));
  await untilLogged(worker);
  const secrets = [
    account.key,
    await hashApiKey(account.key),
    unknown,
    await hashApiKey(unknown),
    account.email,
  ];
  for (const secret of [...secrets, name, ANSWER, USER]) expect(worker.log()).not.toContain(secret);
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { expectUnavailable, get, rowsOf } from '../api/requests.ts';
import { type ApiResponse, errorBody, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
  sql,
  storeSurvey,
} from '../support/data.ts';
import { download, open, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { isPage, limitOf, startFaultyService } from './service.ts';

const service = await startFaultyService();
/** Longer than any result may be, and than is read of an error. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, ' ');
const TOO_LARGE = 'response is too large (max is 67108864 bytes)';
const account = await createAccount();
const survey = await createRows(700);
await fetchSummary(); // caches the key

function createRows(count: number): Promise<TestSurvey> {
  const rows = Array.from({ length: count }, (_, i) => ({
    form: i % 3,
    userid: `u${i % 130}`,
    question_ref: `q${i}`,
    response: `answer ${i}`,
  }));
  return storeSurvey(rows, { account });
}

/** Exports a survey. @returns whether the file is complete and has the right bytes */
async function isExported(of: TestSurvey): Promise<boolean> {
  const { complete, bytes } = await download(of);
  return complete && bytes.equals(await copyResponses(of));
}

test('an export whose results are limited after its first page is complete, and reads none of its pages twice', async () => {
  const rows = Array.from({ length: 120 }, (_, i) => ({
    form: i % 3,
    question_ref: `q${1000 + Math.floor(i / 3)}`,
    // the export expects large rows, and plans pages of some 40
    response: 'x'.repeat(i === 0 ? 1_500_000 : 20),
  }));
  const tied = await storeSurvey(rows, { account });
  const pages: string[] = [];
  service.proxy.inject((exchange) => {
    if (!isPage(exchange)) return;
    if (limitOf(exchange) > (pages.length === 0 ? 40 : 1)) exchange.reply(507, TOO_LARGE);
    else pages.push(JSON.stringify(exchange.params));
  });
  expect(await isExported(tied)).toBe(true);
  expect(pages.length).toBeGreaterThan(40);
  expect(new Set(pages).size).toBe(pages.length);
});

/** A page of JSON that takes several SQL results is streamed. */
const fetchStreamed = (pageSize: number, method = 'GET') =>
  get('/responses', survey, { pageSize, order: 'desc' }, { method });
const linkedCursor = ({ headers }: ApiResponse) =>
  /[?&]after=([\w-]+)>/.exec(headers.get('Link') ?? '')?.[1];

test('a page of JSON has pageSize rows if SQL results are limited to 3 rows, and links to the next', async () => {
  service.limitRows(3);
  const response = await fetchStreamed(100);
  expect(response.headers.get('ETag')).toBeNull(); // its body is not known yet
  const responses = rowsOf(response);
  expect(new Set(responses.map((row) => row['question_ref'])).size).toBe(100);
  expect(linkedCursor(response)).toBe(responses.at(-1)?.token);
  expect(linkedCursor(await fetchStreamed(100, 'HEAD'))).toBe(responses.at(-1)?.token);
  expect(linkedCursor(await fetchStreamed(701, 'HEAD'))).toBeUndefined();
});

test('a page of JSON is aborted if it does not end where its link begins', async () => {
  const changing = await createRows(20);
  let pages = 0;
  service.proxy.inject(async (exchange) => {
    if (!isPage(exchange)) return;
    if (limitOf(exchange) > 3) exchange.reply(507, TOO_LARGE);
    else if (++pages === 3)
      await addResponses(changing, [{ userid: 'u2', question_ref: 'q2, stored late' }]);
  });
  const response = await open(`/responses${query({ survey: changing.name, pageSize: 15 })}`, {
    key: account.key,
  });
  expect(response.headers['link']).toBeDefined();
  expect((await readExport(response)).complete).toBe(false);
  expect(pages).toBeGreaterThan(3);
});

const isQuery = (part: string) => (exchange: Exchange) => exchange.query.includes(part);

test.each([
  ['a query of few rows', isQuery('boundary'), '/responses/csv', {}],
  ['a scan', isQuery('column_name'), '/responses/csv', { layout: 'wide' }],
  ['a list of questions', isQuery('column_name'), '/responses/questions', {}],
  ['a page of one row', isPage, '/responses', { pageSize: 1 }],
])(
  '%s that gets a large result of another one is retried',
  async (_, isReplaced, path, parameters) => {
    service.proxy.inject();
    const unaltered = await get(path, survey, parameters);
    let isFirst = true;
    service.proxy.inject((exchange) => {
      if (!isFirst || !isReplaced(exchange)) return;
      isFirst = false;
      exchange.reply(200, LARGE, { 'Content-Length': String(LARGE.length) });
    });
    const { status, text } = await get(path, survey, parameters);
    expect([status, isFirst]).toEqual([200, false]);
    expect(text).toBe(unaltered.text);
  },
);

test('a page of JSON takes few requests, even if its first row is larger than all others together', async () => {
  const rows = Array.from({ length: 200 }, (_, i) => ({
    question_ref: `q${1000 + i}`,
    response: 'x'.repeat(i === 0 ? 5_000_000 : 8000),
  }));
  const mixed = await storeSurvey(rows, { account });
  service.proxy.inject();
  expect(rowsOf(await get('/responses', mixed, { pageSize: 200 }))).toMatchObject(rows);
  expect(service.proxy.requests).toBeLessThan(40);
});

test('a row larger than a page may be, among small ones, is exported', async () => {
  const large = await storeSurvey(
    [
      ...Array.from({ length: 600 }, (_, i) => ({ form: i % 2, question_ref: `q${i}` })),
      {
        question_ref: 'large',
        timestamp: '2026-03-01T00:03:43.770048Z',
        response: 'x,"\n€'.repeat(700_000),
      },
      { question_ref: 'after', timestamp: '2026-03-02T00:00:00Z' },
    ],
    { account },
  );
  expect(await isExported(large)).toBe(true);
});

test('a participant who does not fit in memory breaks off a wide file, after all earlier participants', async () => {
  const large = await storeSurvey(
    [
      ...Array.from({ length: 600 }, (_, i) => ({
        userid: `a${i}`,
        question_ref: 'q0',
        response: 'x'.repeat(1000),
      })),
      ...Array.from({ length: 9 }, (_, i) => ({
        userid: 'b',
        question_ref: `q${i}`,
      })),
      { userid: 'c', question_ref: 'q0' },
    ],
    { account },
  );
  await sql(
    `update responses set response = repeat('x', 2000000) where surveyid = $1 and userid = 'b'`,
    [large.forms[0]?.id],
  );
  const { complete, bytes } = await download(large, { parameters: { layout: 'wide' } });
  expect(complete).toBe(false);
  expect(bytes.length).toBeGreaterThan(500_000);
  expect(String(bytes)).not.toMatch(/^[bc],/m);

  const narrowed = await get('/responses/csv', large, { layout: 'wide', question_ref: 'q0' });
  expect(new Set(parseCsv(narrowed.bytes).map(({ userid }) => userid)).size).toBe(602);
});

const MIB = 1024 * 1024;
const tooLargeForWide =
  'This selection has an answer that is too large for a wide file. ' +
  'Narrow it with shortcode, question_ref or userid, or leave out layout=wide.';
const unavailable = 'The database cannot be reached at the moment. Please try again shortly.';

test.each([
  ['/responses/csv', {}, 15, 503, unavailable],
  ['/responses/csv', { layout: 'wide' }, 10.5, 400, tooLargeForWide],
  ['/responses', {}, 9, 503, unavailable],
])(
  '%s %j has a response of up to %d MiB, with its other columns and as JSON; a longer one gets %i',
  async (path, parameters, mib, status, message) => {
    const read = async (bytes: number) => {
      const columns = { response: `repeat('x', ${bytes})` };
      const large = await createBulkSurvey(account, { rows: 1, forms: 1, columns });
      const fetched = await get(path, large, parameters);
      return { ...fetched, isWhole: fetched.text.includes('x'.repeat(bytes)) };
    };
    const { isWhole, ...longest } = await read(mib * MIB - 10_000);
    expect([longest.status, isWhole]).toEqual([200, true]);
    const longer = await read(mib * MIB);
    expect([longer.status, longer.text]).toEqual([status, errorBody(message)]);
  },
);

function fetchSummary() {
  return get('/responses/summary', survey);
}
const isSummary = isQuery('answered');

test('a redirect of the SQL endpoint is not followed, because the request has the password and the token', async () => {
  const followed: string[] = [];
  const other = createServer((request, response) => {
    followed.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/sql`;
  for (const status of [301, 302, 303, 307, 308, 401, 403]) {
    service.proxy.inject((exchange) => exchange.reply(status, '', { location }));
    expectUnavailable(await fetchSummary());
  }
  other.close();
  expect(followed).toEqual([]);
});

test.each<[what: string, replied: number, status: number, code: string, attempts: number]>([
  ['a result without a length', 200, 400, 'export_too_large', 2],
  ['an error of Postgres', 400, 500, 'internal_error', 1],
  ['an error of the endpoint', 413, 500, 'internal_error', 1],
])('no more is read of %s than allowed', async (_, replied, status, code, attempts) => {
  service.proxy.inject((exchange) => {
    if (isSummary(exchange)) exchange.reply(replied, LARGE);
  });
  const response = await fetchSummary();
  expect([response.status, response.headers.get('X-Error-Code')]).toEqual([status, code]);
  await expect.poll(() => service.proxy.abandoned).toBe(attempts);
});

test('a limit counts the bytes of a result, not those of its compressed form', async () => {
  service.proxy.inject((exchange) => {
    if (isSummary(exchange)) exchange.reply(200, gzipSync(LARGE), { 'content-encoding': 'gzip' });
  });
  expect((await fetchSummary()).headers.get('X-Error-Code')).toBe('export_too_large');
});

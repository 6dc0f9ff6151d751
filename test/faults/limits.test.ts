import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { errorBody, fetchApi, origin, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
  storeKey,
} from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { eventsIn } from '../support/request-log.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService();

/** More than sockets and the pages read ahead can hold. */
const ROWS = 80_000;
const MINUTE = 60_000;
/** The survey, with as many keys as an isolate's exports need. */
let surveys: TestSurvey[];
let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  const { name, forms, account } = await createBulkSurvey(await createAccount(), { rows: ROWS, forms: 5 });
  const keys = Array.from({ length: 13 }, generateApiKey);
  for (const key of keys) await storeKey(account.id, key);
  surveys = keys.map((key) => ({ name, forms, account: { ...account, key } }));
  survey = surveys[0] as TestSurvey;
  whole = await copyResponses(survey);
  for (const {
    account: { key },
  } of surveys)
    await fetchApi('/surveys', { key }); // caches the keys
});

/** Downloads to end after the test. */
const running: IncomingMessage[] = [];
afterEach(() => running.splice(0).forEach((response) => response.destroy()));

/** Starts an export whose client reads nothing. */
async function begin(of: TestSurvey, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const response = await beginExport(of, { headers });
  response.on('error', () => {}).pause();
  running.push(response);
  return response;
}

/** Holds the queries of requests with these headers that `applies` is true for. */
function hold(applies: (exchange: Exchange) => boolean) {
  const trial = randomUUID();
  const waiting: (() => void)[] = [];
  let isHolding = true;
  const watch = service.proxy.watch(trial, (exchange) => {
    if (!isHolding || !applies(exchange)) return undefined;
    return new Promise<void>((resolve) => waiting.push(resolve));
  });
  onTestFinished(() => watch[Symbol.dispose]());
  return {
    headers: { 'Test-Trial': trial },
    held: () => waiting.length,
    release: () => {
      isHolding = false;
      for (const resolve of waiting) resolve();
    },
  };
}

const forward = (ms: number) => fetch(origin(), { headers: { 'Test-Clock-Forward': String(ms) } });
const isLargePage = ({ query: sql, params }: Exchange) => sql.includes('question_text') && Number(params[0]) > 500;
const page = (of: TestSurvey, pageSize = 25, headers: Record<string, string> = {}) =>
  fetchApi(`/responses${query({ survey: of.name, pageSize })}`, { key: of.account.key, headers });
/** Requests an export that is refused, after its wait. */
async function refusedExport({ name, account: { key } }: TestSurvey) {
  const refused = fetchApi(`/responses/csv${query({ survey: name })}`, { key });
  await sleep(500);
  await forward(6000);
  return refused;
}

describe('exports', () => {
  test('of one key read ahead two pages if there are at most two exports, then one', async () => {
    const { headers, held, release } = hold(isLargePage);
    for (const pages of [2, 2 + 2, 2 + 2 + 1]) {
      await begin(survey, headers);
      await expect.poll(held).toBe(pages);
      await sleep(500);
      expect(held()).toBe(pages);
    }
    release();
  });

  test('read one page at a time, and smaller ones, while another key requests pages', async () => {
    const other = surveys[1] as TestSurvey;
    const pages = [page(other)];
    const polling = setInterval(() => pages.push(page(other)), 200);
    onTestFinished(() => clearInterval(polling));
    const rows: number[] = [];
    const { headers, held, release } = hold(
      (exchange) => isLargePage(exchange) && rows.push(Number(exchange.params[0])) > 0,
    );
    await begin(survey, headers);
    await expect.poll(held).toBe(1);
    await sleep(500);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toBeLessThan(3000); // a quarter of a page
    clearInterval(polling);
    await expect.poll(held).toBe(2); // a second after the last page
    release();
    await Promise.all(pages);
  });

  test('of one key: four at a time, until one of them ends', async () => {
    const first = await begin(survey);
    for (let i = 0; i < 3; i++) expect((await begin(survey)).statusCode).toBe(200);
    const refused = await refusedExport(survey);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('X-Error-Code')).toBe('rate_limited');
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect(refused.text).toBe(
      errorBody('This key already has 4 exports running. Try again when one of them has ended.'),
    );
    expect((await begin(surveys[1] as TestSurvey)).statusCode).toBe(200);
    const { complete, bytes } = await readExport(first);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
    expect((await begin(survey)).statusCode).toBe(200);
  });

  test('of all keys: twelve at a time, beside which pages are served', async () => {
    await Promise.all(surveys.slice(0, 12).map((one) => begin(one)));
    await expect.poll(() => running.map(({ statusCode }) => statusCode)).toEqual(running.map(() => 200));
    const last = surveys[12] as TestSurvey;
    const refused = await refusedExport(last);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('X-Error-Code')).toBe('overloaded');
    expect(refused.headers.get('Retry-After')).toBe('5');
    expect((await page(last)).status).toBe(200);
    const { complete, bytes } = await readExport(running.at(-1) as IncomingMessage);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  });

  test('that are not read count no longer: HEAD requests, and those that failed', async () => {
    const { key } = survey.account;
    const path = `/responses/csv${query({ survey: survey.name })}`;
    for (let i = 0; i < 5; i++) expect((await fetchApi(path, { key, method: 'HEAD' })).status).toBe(200);
    service.proxy.inject((exchange) => {
      if (exchange.query.includes('question_text')) exchange.reply(400, '{"message":"no","code":"42P01"}');
    });
    onTestFinished(() => service.proxy.inject());
    for (let i = 0; i < 5; i++) expect((await fetchApi(path, { key })).status).toBe(500);
  });

  test('whose client takes nothing for 5 minutes are aborted', async () => {
    const { headers, held } = hold(() => false);
    const response = await begin(survey, headers);
    expect(held()).toBe(0);
    await sleep(2000); // it waits for its client
    await forward(4.5 * MINUTE);
    await sleep(6000);
    expect(eventsIn(service.stack.worker, 'export failed')).toEqual([]);
    await forward(5 * MINUTE);
    await expect.poll(() => eventsIn(service.stack.worker, 'export failed')).toHaveLength(1);
    const { complete, bytes } = await readExport(response);
    expect(complete).toBe(false);
    expect(whole.subarray(0, bytes.length).equals(bytes)).toBe(true);
  });
});

describe('pages', () => {
  test('wait for memory, and get 503 if there is none after 5 s; small ones find some', async () => {
    const { headers, held, release } = hold(({ params }) => Number(params[0]) === 10_000);
    const first = page(survey, 10_000, headers);
    await expect.poll(held).toBe(1);
    const others = [page(survey, 10_000, headers), page(surveys[1] as TestSurvey, 10_000, headers)];
    expect((await page(surveys[1] as TestSurvey)).status).toBe(200);
    await sleep(500);
    await forward(6000);
    for (const refused of await Promise.all(others)) expect(refused.status).toBe(503);
    expect(held()).toBe(1);
    const last = page(survey, 10_000, headers);
    release();
    expect((await first).status).toBe(200);
    expect((await last).status).toBe(200);
  });

  test('take memory until they have been sent', async () => {
    const large = await createSurvey(survey.account);
    const responses = Array.from({ length: 10_000 }, (_, i) => ({ userid: `u${i}`, response: 'x'.repeat(1200) }));
    await addResponses(large, responses);
    const url = `${origin()}/api/v1/responses${query({ survey: large.name, pageSize: 10_000 })}`;
    const request = get(url, { agent: false, headers: { Authorization: `Bearer ${large.account.key}` } });
    const [unread] = (await once(request, 'response')) as [IncomingMessage];
    unread.pause();
    const second = page(survey, 10_000);
    await sleep(500);
    await forward(6000);
    expect((await second).status).toBe(503);
    const { complete, bytes } = await readExport(unread);
    expect({ complete, length: bytes.length }).toEqual({
      complete: true,
      length: Number(unread.headers['content-length']),
    });
    expect((await page(survey, 10_000)).status).toBe(200);
  });
});

test('of one key’s counts, two run at a time, and further ones wait 20 s before they get 429', async () => {
  const { headers, held, release } = hold(({ query: sql }) => sql.includes('select count(*) from responses'));
  const count = ({ name, account: { key } }: TestSurvey) =>
    fetchApi(`/responses${query({ survey: name, pageSize: 1, count: 'true' })}`, { key, headers });
  const first = [count(survey), count(survey)];
  await expect.poll(held).toBe(2);
  const waiting = [count(survey), count(survey)];
  const others = count(surveys[1] as TestSurvey);
  await expect.poll(held).toBe(3);
  await sleep(500);
  expect(held()).toBe(3);
  await forward(21_000);
  const refused = await Promise.all(waiting);
  expect(refused.map(({ status }) => status)).toEqual([429, 429]);
  expect(refused[0]?.headers.get('Retry-After')).toBe('10');
  const next = count(survey);
  release();
  for (const answer of [...first, others, next]) expect((await answer).headers.get('X-Total-Count')).toBe(String(ROWS));
});

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { errorBody, fetchApi, origin, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
} from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { eventsIn } from '../support/request-log.ts';
import { limitOf, withFaultyService } from './service.ts';

const service = withFaultyService();

/** More than sockets and the pages read ahead can hold. */
const ROWS = 80_000;
const MINUTE = 60_000;
let survey: TestSurvey;
/** A small one of another account. */
let other: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  survey = await createBulkSurvey(await createAccount(), { rows: ROWS, forms: 5 });
  whole = await copyResponses(survey);
  other = await createBulkSurvey(await createAccount(), { rows: 100, forms: 1 });
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
const isLargePage = (exchange: Exchange) => exchange.query.includes('question_text') && limitOf(exchange) > 500;
const page = (of: TestSurvey, pageSize = 25, headers: Record<string, string> = {}) =>
  fetchApi(`/responses${query({ survey: of.name, pageSize })}`, { key: of.account.key, headers });
describe('exports', () => {
  test('alone read three pages at a time; others of the account wait for these, and those of other accounts do not', async () => {
    const { headers, held, release } = hold(isLargePage);
    for (let i = 0; i < 3; i++) {
      await begin(survey, headers);
      await expect.poll(held).toBe(3);
      await sleep(500);
      expect(held()).toBe(3);
    }
    await begin(await createBulkSurvey(await createAccount(), { rows: 5000, forms: 1 }), headers);
    await expect.poll(held).toBe(4);
    release();
  });

  test('release what they have read ahead if their client is slow, and read it again', async () => {
    const response = await begin(survey);
    const large = await createSurvey(other.account);
    await addResponses(large, [{ response: 'x'.repeat(8_500_000) }]);
    expect((await page(large)).status).toBe(200); // with the pages ahead, there would be no memory for it
    const { complete, bytes } = await readExport(response);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  });

  test('of one account: four at a time, until one of them ends', async () => {
    const first = await begin(survey);
    for (let i = 0; i < 3; i++) expect((await begin(survey)).statusCode).toBe(200);
    const { account, name } = survey;
    const refused = await fetchApi(`/responses/csv${query({ survey: name })}`, { key: account.key });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('X-Error-Code')).toBe('rate_limited');
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect(refused.text).toBe(
      errorBody('This account already has 4 exports running. Try again when one of them has ended.'),
    );
    const { complete, bytes } = await readExport(first);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
    expect((await begin(survey)).statusCode).toBe(200);
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
    const response = await begin(survey);
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

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { createPagedSurvey, endRetries } from '../faults/service.ts';
import { fetchApi, fetchService, errorBody, query } from '../support/api.ts';
import { createAccount, createSurvey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import { eventsIn, lineOf } from '../support/request-log.ts';
import {
  type KeyQueries,
  MINUTE,
  SECOND,
  authenticate,
  authenticateAt,
  nextQuarter,
  withKeyService,
} from './service.ts';

const service = withKeyService({ ownServer: true });
const UNAVAILABLE = [503, errorBody('The database cannot be reached at the moment. Please try again shortly.'), '5'];

describe('while lookups fail', () => {
  const fail = (held?: Promise<void>) =>
    service.countKeyQueries(async (exchange) => {
      await held;
      exchange.reset();
    });

  /** Moves the clock past the end of a request's retries, once its lookup has been retried. */
  async function untilRetriesEnd<T>(response: Promise<T>, queries: KeyQueries): Promise<T> {
    await expect.poll(() => queries.lookups).toBeGreaterThan(1);
    await endRetries();
    return response;
  }

  test('a key that was checked within 5 minutes is accepted, and any other gets 503', async () => {
    const { key } = await createAccount();
    const start = nextQuarter();
    await authenticateAt(start, key);
    const checked = await service.untilCached(key);
    const queries = fail();
    expect((await authenticateAt(checked + 5 * MINUTE - 10 * SECOND, key)).status).toBe(404);
    expect(queries.lookups).toBe(0);
    const { line, result } = await lineOf(service.worker, () =>
      untilRetriesEnd(authenticateAt(checked + 5 * MINUTE, key), queries),
    );
    expect([result.status, result.text, result.headers.get('Retry-After')]).toEqual(UNAVAILABLE);
    expect(line.keyCache).toBe('stale');
    service.endFaults();
    expect((await authenticateAt(checked + 6 * MINUTE, key)).status).toBe(404);
  });

  test('a lookup that only notes the use of a key delays no response, and its failure is logged', async () => {
    const { key } = await createAccount();
    const quarter = nextQuarter();
    await authenticateAt(quarter - MINUTE, key);
    await service.untilCached(key);
    const held = Promise.withResolvers<void>();
    const queries = fail(held.promise);
    const { status, headers } = await authenticateAt(quarter + MINUTE, key);
    expect(status).toBe(404);
    expect(queries.lookups).toBeLessThan(2); // the first attempt has not failed yet
    held.resolve();
    await untilRetriesEnd(Promise.resolve(), queries);
    const requestId = headers.get('X-Request-Id');
    await expect.poll(() => eventsIn(service.worker, 'key lookup failed')).toMatchObject([{ requestId }]);
    expect((await authenticateAt(quarter + 2 * MINUTE, key)).status).toBe(404);
  });

  test('a running export whose key has to be checked continues', async () => {
    const survey = await createPagedSurvey();
    const held = Promise.withResolvers<void>();
    let checks = 0;
    service.proxy.inject((exchange) => {
      if (exchange.index < 6) return sleep(400); // as if far away: the account has as many requests as it can
      if (!exchange.query.includes('api_key')) return held.promise;
      checks++;
      return exchange.reset();
    });
    const response = await beginExport(survey, { headers: { 'Test-Clock-Ahead': '0' } });
    await expect.poll(() => service.proxy.requests).toBeGreaterThan(6);
    await fetch(service.worker.url, { headers: { 'Test-Clock-Forward': String(6 * MINUTE) } });
    await expect.poll(() => checks).toBeGreaterThan(1);
    held.resolve();
    const download = readExport(response);
    await endRetries();
    expect((await download).complete).toBe(true);
  });
});

test('with the database stopped, a cached key is accepted, and requests that need the database get 503', async () => {
  const account = await service.createCachedAccount();
  const survey = await createSurvey(account);
  await service.stopDatabase();

  expect((await authenticate(account.key)).status).toBe(404);
  expect((await fetchApi('/responses', { key: account.key })).status).toBe(400);
  expect((await fetchApi('/surveys', { key: 'no key' })).status).toBe(401);
  expect((await fetchService('/healthz')).status).toBe(503);
  const parameters = query({ survey: survey.name });
  const sent = Promise.all([
    fetchApi('/surveys', { key: account.key }),
    fetchApi(`/responses${parameters}`, { key: account.key }),
    fetchApi(`/responses/csv${parameters}`, { key: account.key }),
    fetchApi(`/responses/form-data${parameters}`, { key: account.key }),
    fetchApi('/surveys', { key: generateApiKey() }),
  ]);
  await sleep(1000);
  await endRetries();
  for (const { status, text, headers } of await sent) {
    expect([status, text, headers.get('Retry-After')]).toEqual(UNAVAILABLE);
  }
});

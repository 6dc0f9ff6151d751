import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { RETRIES_MS, endRetries } from '../faults/service.ts';
import { fetchApi, fetchService, errorBody, query } from '../support/api.ts';
import { createSurvey } from '../support/data.ts';
import { eventsIn, lineOf } from '../support/request-log.ts';
import {
  HOUR,
  type KeyQueries,
  MINUTE,
  authenticate,
  authenticateAt,
  revokeInDatabase,
  withKeyService,
} from './service.ts';

const service = withKeyService();
const UNAVAILABLE = [503, errorBody('The database cannot be reached at the moment. Please try again shortly.'), '5'];

describe('while lookups fail', () => {
  const fail = () => service.countKeyQueries((exchange) => exchange.reset());

  /** Moves the clock past the end of a request's retries, once its lookup has been retried. */
  async function untilRetriesEnd<T>(response: Promise<T>, queries: KeyQueries, earlier = 0): Promise<T> {
    await expect.poll(() => queries.lookups).toBeGreaterThan(earlier + 1);
    await endRetries();
    return response;
  }

  // A lookup that succeeds ends the outage for the isolate.
  afterEach(async () => {
    service.endFaults();
    await service.createCachedAccount();
  });

  test('a stale entry is accepted after the retries, then at once; a lookup every few seconds notices the recovery', async () => {
    const { key, id, checked } = await service.createCachedAccount();
    const queries = fail();
    const later = { 'Test-Clock-Ahead': String(10 * MINUTE) };
    const { line, result } = await lineOf(service.worker, () => untilRetriesEnd(authenticate(key, later), queries));
    expect(line).toMatchObject({ keyCache: 'stale', accountId: id, status: 404, end: 'complete' });
    expect(queries.lookups).toBeGreaterThan(1);
    expect([line.sqlRequests, line.retries]).toEqual([queries.lookups, queries.lookups - 1]);
    const requestId = result.headers.get('X-Request-Id');
    expect(eventsIn(service.worker, 'key lookup failed')).toEqual([expect.objectContaining({ requestId })]);

    const { lookups } = queries;
    const afterwards = { 'Test-Clock-Ahead': String(10 * MINUTE + RETRIES_MS) };
    for (const { status } of await Promise.all([1, 2, 3].map(() => authenticate(key, afterwards))))
      expect(status).toBe(404);
    expect(queries.lookups).toBe(lookups);

    service.endFaults();
    await revokeInDatabase(key);
    expect((await authenticateAt(checked + 20 * MINUTE, key)).status).toBe(401);
  });

  test('a cached key is accepted for a day', async () => {
    const { key, checked } = await service.createCachedAccount();
    const queries = fail();
    const last = authenticateAt(checked + 24 * HOUR - MINUTE, key);
    expect((await untilRetriesEnd(last, queries)).status).toBe(404);
    const { lookups } = queries;
    const expired = authenticateAt(checked + 24 * HOUR, key);
    const { status, text, headers } = await untilRetriesEnd(expired, queries, lookups);
    expect([status, text, headers.get('Retry-After')]).toEqual(UNAVAILABLE);
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

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { type TestSurvey, createBulkSurvey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import { eventsIn, lineOf } from '../support/request-log.ts';
import { FEW_RETRIES, PAGED_ROWS, createPagedSurvey, endRetries, withFaultyService } from './service.ts';

const service = withFaultyService();

/** More than sockets and the pages read ahead can hold. */
const BULK_ROWS = 100_000;
const GZIP = { 'Accept-Encoding': 'gzip' };
let survey: TestSurvey;
let bulk: TestSurvey;

beforeAll(async () => {
  survey = await createPagedSurvey();
  const { account } = survey;
  bulk = await createBulkSurvey(account, { rows: BULK_ROWS, forms: 5 });
  await fetchApi('/surveys', { key: account.key }); // caches the key
});

const logged = <T>(work: () => Promise<T>) => lineOf(service.stack.worker, work);
const read = async (parameters = {}, headers = {}) => readExport(await beginExport(survey, { parameters, headers }));

describe('a complete export', () => {
  test('is logged with its duration', async () => {
    service.proxy.inject(() => sleep(50));
    const { line } = await logged(() => read());
    expect(line.durationMs).toBeGreaterThanOrEqual(150);
  });

  test('is logged with its retries', async () => {
    let faults = 0;
    service.proxy.inject((exchange) => {
      if (![0, 2, 5].includes(exchange.index)) return;
      faults++;
      exchange.reset();
    });
    const { line, result } = await logged(() => read());
    expect(result.complete).toBe(true);
    expect(line).toMatchObject({
      rows: PAGED_ROWS,
      bytes: result.bytes.length,
      retries: faults,
      sqlRequests: service.proxy.requests,
      end: 'complete',
    });
    expect(faults).toBe(3);
  });
});

describe('an export whose client disconnects', () => {
  test.each([
    [0, {}],
    [1, {}],
    [1_000_000, {}],
    [10_000_000, {}],
    [1, GZIP],
    [1_000_000, GZIP],
  ])('after %i bytes, %j, is logged with the rows and bytes so far', async (least, headers) => {
    const { line, result } = await logged(async () => {
      const response = await beginExport(bulk, { headers });
      let bytes = 0;
      if (least > 0) {
        for await (const chunk of response) {
          bytes += (chunk as Buffer).length;
          if (bytes >= least) break;
        }
      }
      response.socket.resetAndDestroy();
      return bytes;
    });
    expect(line).toMatchObject({ route: '/api/v1/responses/csv', status: 200, end: 'client left' });
    expect(line).not.toHaveProperty('reason');
    expect(line.rows).toBeLessThan(BULK_ROWS);
    if (headers === GZIP) return;
    // Rows count when their page is complete, and bytes in sockets were never read.
    expect(line.bytes).toBeGreaterThan(result - 10_000_000);
  });

  test('while the next page is being read is logged', async () => {
    service.proxy.inject((exchange) => {
      if (exchange.index >= 4) exchange.hang();
    });
    const { line } = await logged(async () => {
      const response = await beginExport(bulk);
      await once(response, 'data');
      response.socket.resetAndDestroy();
    });
    expect(line).toMatchObject({ status: 200, end: 'client left' });
  });

  test.each([
    ['while the survey is being found', () => true],
    ['while the first page is being read', (sql: string) => sql.includes('from responses')],
  ])('before the first byte, %s, is logged', async (_, hangs) => {
    await fetchApi(`/responses${query({ survey: bulk.name })}`, { key: survey.account.key }); // both are requested at once
    service.proxy.inject((exchange) => {
      if (hangs(exchange.query)) exchange.hang();
    });
    const failures = eventsIn(service.stack.worker, 'request failed').length;
    const { line } = await logged(async () => {
      const { hostname, port } = service.stack.worker.url;
      const client = connect(Number(port), hostname);
      const path = `/api/v1/responses/csv${query({ survey: bulk.name })}`;
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${survey.account.key}\r\n\r\n`);
      await expect.poll(() => service.proxy.requests).toBe(2);
      client.resetAndDestroy();
    });
    expect(line).toMatchObject({ status: null, rows: 0, bytes: 0, sqlRequests: 2, end: 'client left' });
    expect(eventsIn(service.stack.worker, 'request failed')).toHaveLength(failures); // the service did not fail
  });
});

describe('an export that fails', () => {
  test.each([
    ['database: transient', {}, (exchange: { reset(): void }) => exchange.reset()],
    ['database: transient', GZIP, (exchange: { reset(): void }) => exchange.reset()],
    [
      'database: defect',
      {},
      (exchange: { reply(status: number, body: string): void }) =>
        exchange.reply(400, '{"message":"secret answer","code":"42P01","severity":"ERROR"}'),
    ],
  ])(
    'after the first byte is logged with its reason (%s), %j, and its details are logged once',
    async (reason, headers, fault) => {
      service.proxy.inject((exchange) => {
        if (exchange.index >= 6) fault(exchange);
      });
      const { line, result } = await logged(() => read({}, { ...headers, ...FEW_RETRIES }));
      expect(result.complete).toBe(false);
      expect(line).toMatchObject({ status: 200, end: 'failed', reason });
      expect(line.rows).toBeLessThan(PAGED_ROWS);
      const details = eventsIn(service.stack.worker, 'export failed').filter(
        ({ requestId }) => requestId === line.requestId,
      );
      expect(details).toHaveLength(1);
      expect(details[0]?.['stack'] !== undefined).toBe(reason === 'database: defect');
    },
  );

  test('has retried its first page as any request, but a later one only for EXPORT_RETRY_SECONDS', async () => {
    let pages = 0;
    service.proxy.inject((exchange) => {
      if (exchange.query.includes('question_text') && [0, 2].includes(pages++)) exchange.reset();
    });
    const { line } = await logged(() => read({}, { 'Test-Retry-Seconds': '0' }));
    expect(line).toMatchObject({ status: 200, retries: 1, end: 'failed' });
  });

  test('is logged with the rows and bytes that the client received', async () => {
    service.proxy.inject((exchange) => {
      if (exchange.index >= 6) exchange.reset();
    });
    const { line, result } = await logged(() => read({}, FEW_RETRIES));
    expect(line.bytes).toBe(result.bytes.length);
    expect(line.rows).toBe(parseCsv(result.bytes).length);
  });

  test('before the first byte gets 503, and is logged with its retries, without a stack', async () => {
    service.proxy.inject((exchange) => exchange.reset());
    const { line, result } = await logged(async () => {
      const response = fetchApi(`/responses/csv${query({ survey: survey.name })}`, { key: survey.account.key });
      await expect.poll(() => service.proxy.requests).toBeGreaterThan(2);
      await endRetries();
      return response;
    });
    expect(result.status).toBe(503);
    const { sqlRequests } = line; // for the form versions and for the first page
    expect(line).toMatchObject({ status: 503, retries: sqlRequests - 2, rows: 0, end: 'complete' });
    expect(line.bytes).toBe(result.bytes.length);
    expect(service.proxy.requests).toBeGreaterThan(2);
    // When one of the two gives up, the last request for the other is aborted, perhaps before it has arrived.
    expect([0, 1]).toContain(sqlRequests - service.proxy.requests);
    const details = eventsIn(service.stack.worker, 'request failed').filter(
      ({ requestId }) => requestId === line.requestId,
    );
    expect(details).toEqual([{ event: 'request failed', requestId: line.requestId, error: expect.any(String) }]);
  });

  test('by a defect before the first byte gets 500, and is logged once with its stack', async () => {
    service.proxy.inject((exchange) =>
      exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}'),
    );
    const { line, result } = await logged(() =>
      fetchApi(`/responses/csv${query({ survey: survey.name })}`, { key: survey.account.key }),
    );
    expect([result.status, result.text]).toEqual([
      500,
      errorBody(`Something went wrong on our side. Please tell us this request id: ${line.requestId}`),
    ]);
    expect(line).toMatchObject({ status: 500, retries: 0, end: 'complete' });
    expect([0, 1]).toContain(line.sqlRequests - service.proxy.requests); // likewise
    const details = eventsIn(service.stack.worker, 'request failed').filter(
      ({ requestId }) => requestId === line.requestId,
    );
    expect(details).toHaveLength(1);
    expect(details[0]?.['stack']).toContain('no such table');
  });
});

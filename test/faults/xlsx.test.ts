import { beforeAll, expect, test } from 'vitest';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { csvRecords } from '../support/csv.ts';
import { readWorkbook } from '../support/xlsx.ts';
import { FEW_RETRIES, firstAttempts, withFaultyService } from './service.ts';

const service = withFaultyService();

let survey: TestSurvey;
/** SQL requests of an export at least. There are more if its client is slow: pages are then read again. */
const REQUESTS = 9;

const begin = (headers = {}) => beginExport(survey, { file: 'xlsx', headers });

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), undefined, 4);
  const long = 'x'.repeat(32_000);
  // The first rows are large, so that the others are read in several pages.
  await addResponses(
    survey,
    Array.from({ length: 3000 }, (_, i) => ({
      form: i % 4,
      timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
      response: `"${i}"`,
      ...(i < 25 ? { question_text: long, pageid: long, translated_response: long, metadata: `"${long}"` } : {}),
    })),
  );
  await readExport(await begin()); // caches the key
});

test('the workbook in this test takes enough requests for its faults to matter', async () => {
  service.proxy.inject();
  await readExport(await begin());
  expect(service.proxy.requests).toBeGreaterThanOrEqual(REQUESTS);
});

test('a workbook is whole if each of its requests fails once', async () => {
  const isFirstAttempt = firstAttempts();
  service.proxy.inject((exchange) => {
    if (isFirstAttempt(exchange)) exchange.cutAfter((body) => body.length / 2);
  });
  const { complete, bytes } = await readExport(await begin());
  expect(complete).toBe(true);
  expect(service.proxy.requests).toBeGreaterThanOrEqual(2 * REQUESTS);
  const expected = csvRecords(await copyResponses(survey)).map((record) => record[8]);
  expect(readWorkbook(bytes).map((row) => row[8])).toEqual(expected);
});

test('a permanent failure breaks off the transfer', async () => {
  service.proxy.inject((exchange) => {
    if (exchange.index >= REQUESTS - 2) exchange.reset();
  });
  const response = await begin(FEW_RETRIES);
  expect(response.statusCode).toBe(200);
  expect((await readExport(response)).complete).toBe(false);
});

test('so does a response with a text that is too long, stored after the texts were measured', async () => {
  let isStored = false;
  service.proxy.inject(async ({ query }: Exchange) => {
    if (isStored || !query.includes('select parent_surveyid')) return;
    isStored = true;
    await addResponses(survey, [{ timestamp: '2030-01-01T00:00:00Z', response: 'a'.repeat(32_768) }]);
  });
  const response = await begin();
  expect(response.statusCode).toBe(200);
  expect((await readExport(response)).complete).toBe(false);
});

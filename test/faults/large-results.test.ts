import { beforeAll, expect, test } from 'vitest';
import { type Page, fetchApi, query } from '../support/api.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';
import { beginExport, readExport, withFaultyService } from './service.ts';

const service = withFaultyService();
let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), undefined, 3);
  const rows = Array.from({ length: 700 }, (_, i) => ({ form: i % 3, question_ref: `q${i}`, response: `answer ${i}` }));
  await addResponses(survey, rows);
  whole = await copyResponses(survey);
});

const limitOf = (params: unknown[]) => Number(params[0]);

test.each([1, 3, 50, 499, 500])('an export is complete if SQL results are limited to %i rows', async (most) => {
  let refused = 0;
  service.proxy.inject((exchange) => {
    if (exchange.query.includes('question_text') && limitOf(exchange.params) > most) {
      refused++;
      exchange.reply(507, 'response is too large (max is 67108864 bytes)');
    }
  });
  const { complete, bytes } = await readExport(await beginExport(survey));
  expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  expect(refused).toBeGreaterThan(0);
});

test('a page of JSON has pageSize rows if SQL results are limited to 3 rows', async () => {
  service.proxy.inject((exchange) => {
    if (limitOf(exchange.params) > 3) exchange.reply(507, 'response is too large (max is 67108864 bytes)');
  });
  const response = await fetchApi(`/responses${query({ survey: survey.name, pageSize: 100 })}`, {
    key: survey.account.key,
  });
  const { responses } = JSON.parse(response.text) as Page;
  expect(responses.map((row) => row['question_ref'])).toHaveLength(100);
  expect(new Set(responses.map((row) => row['question_ref'])).size).toBe(100);
});

test('a page of JSON takes few requests, even if its first row is as large as all others together', async () => {
  const mixed = await createSurvey(survey.account);
  const names = Array.from({ length: 2000 }, (_, i) => `q${1000 + i}`);
  await addResponses(
    mixed,
    names.map((name, i) => ({ question_ref: name, response: 'x'.repeat(i === 0 ? 17_000_000 : 8000) })),
  );
  service.proxy.inject();
  const response = await fetchApi(`/responses${query({ survey: mixed.name, pageSize: 2000 })}`, {
    key: survey.account.key,
  });
  const { responses } = JSON.parse(response.text) as Page;
  expect(responses.map((row) => row['question_ref'])).toEqual(names);
  expect(service.proxy.requests).toBeLessThan(40);
});

test('a row that is too large breaks off the transfer, and does not hang it', async () => {
  let pages = 0;
  service.proxy.inject((exchange) => {
    if (exchange.query.includes('question_text') && pages++ > 0)
      exchange.reply(507, 'response is too large (max is 67108864 bytes)');
  });
  const { complete } = await readExport(await beginExport(survey));
  expect(complete).toBe(false);
});

test('a row of 40 MB among small ones is exported', async () => {
  const large = await createSurvey(survey.account, undefined, 2);
  await addResponses(large, [
    ...Array.from({ length: 600 }, (_, i) => ({ form: i % 2, question_ref: `q${i}` })),
    { question_ref: 'large', timestamp: '2026-03-01T00:03:43.770048Z', response: 'x,"\n€'.repeat(5_600_000) },
    { question_ref: 'after', timestamp: '2026-03-02T00:00:00Z' },
  ]);
  const { complete, bytes } = await readExport(await beginExport(large));
  expect(bytes.length).toBeGreaterThan(40_000_000);
  expect({ complete, same: bytes.equals(await copyResponses(large)) }).toEqual({ complete: true, same: true });
});

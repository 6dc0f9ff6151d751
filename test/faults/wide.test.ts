import { beforeAll, expect, test } from 'vitest';
import { fetchApi, errorBody, query } from '../support/api.ts';
import { type TestAccount, type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { wideCsv } from '../support/wide.ts';
import { limitOf, withFaultyService } from './service.ts';

const service = withFaultyService();

let account: TestAccount;

const begin = (of: TestSurvey) => beginExport(of, { parameters: { layout: 'wide' } });
const read = async (of: TestSurvey) => {
  const { complete, bytes } = await readExport(await begin(of));
  return { complete, text: bytes.toString('utf8') };
};
const isPage = ({ query: text }: Exchange) => text.includes('select userid, parent_surveyid');

beforeAll(async () => {
  account = await createAccount();
});

test.each([
  [1, 60],
  [3, 200],
  [499, 1500],
])('a wide file is complete if SQL results are limited to %i rows, of %i', async (most, rows) => {
  const fitted = await createSurvey(account, undefined, 4);
  await addResponses(
    fitted,
    Array.from({ length: rows }, (_, i) => ({
      form: i % 4,
      userid: `u${i % 130}`,
      timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
      question_ref: `q${i % 7}`,
      question_idx: i % 7,
    })),
  );
  let pages = 0;
  service.proxy.inject((exchange) => {
    if (!isPage(exchange)) return;
    if (limitOf(exchange) > most) exchange.reply(507, 'response is too large');
    else pages++;
  });
  const { complete, text } = await read(fitted);
  expect({ complete, same: text === (await wideCsv(fitted)) }).toEqual({ complete: true, same: true });
  expect(pages).toBeGreaterThanOrEqual(rows / most);
});

test('a participant who does not fit in memory breaks off the transfer, after all earlier participants', async () => {
  const large = await createSurvey(account, undefined, 1);
  await addResponses(large, [
    ...Array.from({ length: 600 }, (_, i) => ({ userid: `a${i}`, question_ref: 'q0', response: 'x'.repeat(1000) })),
    ...Array.from({ length: 9 }, (_, i) => ({ userid: 'b', question_ref: `q${i}`, response: 'x'.repeat(2_000_000) })),
    { userid: 'c', question_ref: 'q0' },
  ]);
  const response = await begin(large);
  expect(response.statusCode).toBe(200);
  const { complete, bytes } = await readExport(response);
  expect(complete).toBe(false);
  expect(bytes.length).toBeGreaterThan(500_000);
  expect(bytes.toString('utf8')).not.toMatch(/^[bc],/m);

  const path = `/responses/csv${query({ survey: large.name, layout: 'wide', question_ref: 'q0' })}`;
  const narrowed = await fetchApi(path, { key: large.account.key });
  expect(narrowed.text === (await wideCsv(large, `r.question_ref = 'q0'`))).toBe(true);
});

test('a first response of more than 16 MiB gets 400', async () => {
  const large = await createSurvey(account);
  await addResponses(large, [{ response: 'x'.repeat(17_000_000) }]);
  const response = await fetchApi(`/responses/csv${query({ survey: large.name, layout: 'wide' })}`, {
    key: account.key,
  });
  expect([response.status, response.text]).toEqual([
    400,
    errorBody(
      'This selection has an answer that is too large for a wide file. ' +
        'Narrow it with shortcode, question_ref or userid, or leave out layout=wide.',
    ),
  ]);
});

test('responses stored during a wide export are included if they are still ahead and their question has a column', async () => {
  const small = await createSurvey(account, undefined, 2);
  await addResponses(
    small,
    Array.from({ length: 1500 }, (_, i) => ({
      form: i % 2,
      userid: `u${i % 200}`,
      question_ref: `q${i % 3}`,
      timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
    })),
  );
  const before = await wideCsv(small);
  let pages = 0;
  service.proxy.inject(async (exchange) => {
    if (!isPage(exchange) || pages++ !== 0) return;
    // The columns have been read, but no responses yet: the question `new` has no column.
    const timestamp = '2030-01-01T00:00:00Z';
    await addResponses(small, [
      { userid: 'u1', question_ref: 'new', timestamp },
      { userid: 'someone new', question_ref: 'new', timestamp },
      { userid: 'zzz', question_ref: 'q1', timestamp, response: 'in time' },
    ]);
  });
  const { complete, text } = await read(small);
  expect(complete).toBe(true);
  expect(text.replace(/^zzz,.*\n/m, '')).toBe(before);
  expect(text).toContain(',in time');
});

test('a form that is renamed while a wide export starts keeps its old name', async () => {
  const small = await createSurvey(account, undefined, 2);
  await addResponses(
    small,
    Array.from({ length: 20 }, (_, i) => ({ form: i % 2, userid: `u${i % 5}`, question_ref: `q${i % 3}` })),
  );
  const before = await wideCsv(small);
  let renamed = false;
  service.proxy.inject(async (exchange) => {
    if (renamed || !exchange.query.includes('min(question_idx)')) return;
    renamed = true;
    await sql(`update surveys set shortcode = 'renamed' where survey_name = $1`, [small.name]);
  });
  expect(await read(small)).toEqual({ complete: true, text: before });
  expect(renamed).toBe(true);
});

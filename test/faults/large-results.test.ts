import { beforeAll, expect, test } from 'vitest';
import { type ApiResponse, type Page, fetchApi, origin, query } from '../support/api.ts';
import {
  type TestAccount,
  type TestSurvey,
  addResponses,
  copyFormVersions,
  copyResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import { createPagedSurvey, limitOf, withFaultyService } from './service.ts';

const service = withFaultyService();
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createRows(await createAccount(), 700);
});

async function createRows(account: TestAccount, count: number): Promise<TestSurvey> {
  const created = await createSurvey(account, undefined, 3);
  const rows = Array.from({ length: count }, (_, i) => ({
    form: i % 3,
    question_ref: `q${i}`,
    response: `answer ${i}`,
  }));
  await addResponses(created, rows);
  return created;
}

const isPage = ({ query: text }: { query: string }) => text.includes('question_text');

test.each([
  [1, 60],
  [3, 200],
  [50, 700],
  [499, 700],
  [500, 700],
])('an export is complete if SQL results are limited to %i rows, of %i', async (most, rows) => {
  const fitted = await createRows(survey.account, rows);
  let refused = 0;
  service.proxy.inject((exchange) => {
    if (exchange.query.includes('question_text') && limitOf(exchange) > most) {
      refused++;
      exchange.reply(507, 'response is too large (max is 67108864 bytes)');
    }
  });
  const { complete, bytes } = await readExport(await beginExport(fitted));
  expect({ complete, same: bytes.equals(await copyResponses(fitted)) }).toEqual({ complete: true, same: true });
  expect(refused).toBeGreaterThan(0);
});

test.each([1, 8])(
  'an export is complete if SQL results are limited to %i rows after its first page, and reads none of its pages twice',
  async (most) => {
    const tied = await createSurvey(survey.account, undefined, 3);
    const rows = Array.from({ length: 300 }, (_, i) => ({
      form: i % 3,
      question_ref: `q${1000 + Math.floor(i / 3)}`,
      response: 'x'.repeat(i === 0 ? 4_000_000 : 20), // the export expects large rows, and plans pages of some 40
    }));
    await addResponses(tied, rows);
    const pages: string[] = [];
    service.proxy.inject((exchange) => {
      if (!isPage(exchange)) return;
      if (limitOf(exchange) > (pages.length === 0 ? 40 : most))
        exchange.reply(507, 'response is too large (max is 67108864 bytes)');
      else pages.push(JSON.stringify(exchange.params));
    });
    const { complete, bytes } = await readExport(await beginExport(tied));
    expect({ complete, same: bytes.equals(await copyResponses(tied)) }).toEqual({ complete: true, same: true });
    expect(new Set(pages).size).toBe(pages.length);
  },
);

test.each([1, 2, 7])('lists of form versions are complete if SQL results are limited to %i rows', async (most) => {
  const account = await createAccount();
  const listed = await createSurvey(account, undefined, 12);
  await addResponses(listed, [{}]);
  await sql(
    `update surveys set shortcode = 'form ' || n % 5, created = timestamptz '2026-03-01Z' + n % 4 * interval '1 us',
       metadata = jsonb_build_object('text', repeat('x', 10000))
     from unnest($1::uuid[]) with ordinality numbered (form, n)
     where id = form`,
    [listed.forms.map(({ id }) => id)],
  );
  const fetchList = (path: string) => fetchApi(path, { key: account.key });
  const formData = `/responses/form-data${query({ survey: listed.name })}`;
  const surveys = await fetchList('/surveys');

  let parts = 0;
  service.proxy.inject((exchange) => {
    const { query: text } = exchange;
    if (!text.includes('translation_conf') && !text.includes('survey_created')) return;
    parts++;
    if (limitOf(exchange) > most) exchange.reply(507, 'response is too large');
  });
  const streamed = [await fetchList('/surveys'), await fetchList(formData)] as const;
  expect(parts).toBeGreaterThan(2 * Math.floor(12 / most));
  expect(streamed.map(({ headers }) => headers.get('ETag'))).toEqual([null, null]);
  expect(streamed[0].text).toBe(surveys.text);
  expect(streamed[1].text).toBe((await copyFormVersions(listed)).toString('utf8'));
});

/** A page of JSON that takes several SQL results is streamed. */
const fetchStreamed = (pageSize: number, order: string, method = 'GET') =>
  fetchApi(`/responses${query({ survey: survey.name, pageSize, order })}`, { key: survey.account.key, method });
const linkedCursor = ({ headers }: ApiResponse) => /[?&]after=([\w-]+)>/.exec(headers.get('Link') ?? '')?.[1];

test.each(['asc', 'desc'])(
  'a page of JSON has pageSize rows if SQL results are limited to 3 rows, and links to the next: order=%s',
  async (order) => {
    service.proxy.inject((exchange) => {
      if (isPage(exchange) && limitOf(exchange) > 3)
        exchange.reply(507, 'response is too large (max is 67108864 bytes)');
    });
    const response = await fetchStreamed(100, order);
    expect(response.headers.get('ETag')).toBeNull(); // its body is not known yet
    const { responses } = JSON.parse(response.text) as Page;
    expect(responses.map((row) => row['question_ref'])).toHaveLength(100);
    expect(new Set(responses.map((row) => row['question_ref'])).size).toBe(100);
    expect(linkedCursor(response)).toBe(responses.at(-1)?.token);
    expect(linkedCursor(await fetchStreamed(100, order, 'HEAD'))).toBe(responses.at(-1)?.token);
    expect(linkedCursor(await fetchStreamed(701, order, 'HEAD'))).toBeUndefined();
  },
);

test('a page of JSON is aborted if it does not end where its link begins', async () => {
  const changing = await createRows(survey.account, 20);
  let pages = 0;
  service.proxy.inject(async (exchange) => {
    if (!isPage(exchange)) return;
    if (limitOf(exchange) > 3) exchange.reply(507, 'response is too large (max is 67108864 bytes)');
    else if (++pages === 3) await addResponses(changing, [{ question_ref: 'q3, stored late' }]);
  });
  const response = await fetch(`${origin()}/api/v1/responses${query({ survey: changing.name, pageSize: 15 })}`, {
    headers: { Authorization: `Bearer ${changing.account.key}` },
  });
  expect(response.headers.get('Link')).not.toBeNull();
  await expect(response.text()).rejects.toThrow('terminated');
  expect(pages).toBeGreaterThan(3);
});

test('a small query that gets a large result of another one is retried', async () => {
  let isFirst = true;
  service.proxy.inject((exchange) => {
    if (!isFirst || !exchange.query.includes('row_number() over (order by')) return;
    isFirst = false;
    const body = JSON.stringify({ fields: [], rows: [['x'.repeat(4_000_000)]], rowCount: 1 });
    exchange.reply(200, body, { 'Content-Length': String(body.length) });
  });
  const { complete, bytes } = await readExport(await beginExport(survey));
  expect({ complete, same: bytes.equals(await copyResponses(survey)) }).toEqual({ complete: true, same: true });
  expect(isFirst).toBe(false);
});

test('a page of JSON takes few requests, even if its first row is larger than all others together', async () => {
  const mixed = await createSurvey(survey.account);
  const names = Array.from({ length: 200 }, (_, i) => `q${1000 + i}`);
  await addResponses(
    mixed,
    names.map((name, i) => ({ question_ref: name, response: 'x'.repeat(i === 0 ? 17_000_000 : 8000) })),
  );
  service.proxy.inject();
  const response = await fetchApi(`/responses${query({ survey: mixed.name, pageSize: 200 })}`, {
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

test('a row larger than a page may be, among small ones, is exported', async () => {
  const large = await createSurvey(survey.account, undefined, 2);
  await addResponses(large, [
    ...Array.from({ length: 600 }, (_, i) => ({ form: i % 2, question_ref: `q${i}` })),
    { question_ref: 'large', timestamp: '2026-03-01T00:03:43.770048Z', response: 'x,"\n€'.repeat(1_400_000) },
    { question_ref: 'after', timestamp: '2026-03-02T00:00:00Z' },
  ]);
  const { complete, bytes } = await readExport(await beginExport(large));
  expect(bytes.length).toBeGreaterThan(10_000_000);
  expect({ complete, same: bytes.equals(await copyResponses(large)) }).toEqual({ complete: true, same: true });
});

test('rows stored during an export neither repeat nor displace those stored before', async () => {
  const growing = await createPagedSurvey();
  const before = await copyResponses(growing);
  const response = 'arrived meanwhile';
  const ties = Array.from({ length: 1000 }, (_, i) => ({
    timestamp: new Date(Date.UTC(2026, 2, 1) + i).toISOString(),
    form: (3 * i + 1) % 4,
    userid: `u${(3 * i) % 130}`,
    question_ref: `q${(3 * i) % 7}`,
    response,
  }));
  service.proxy.inject(async ({ index }) => {
    if (index !== 5) return;
    // Before all others, tied with them except for the form version, and after them.
    const [start, end] = ['2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'];
    await addResponses(growing, [{ timestamp: start, response }, ...ties, { timestamp: end, response }]);
  });
  const { complete, bytes } = await readExport(await beginExport(growing));
  expect(complete).toBe(true);
  const lines = bytes.toString().split('\n');
  const arrived = lines.filter((line) => line.includes(response));
  expect(arrived.length).toBeGreaterThan(0);
  expect(new Set(arrived).size).toBe(arrived.length);
  expect(lines.filter((line) => !line.includes(response)).join('\n')).toBe(before.toString());
});

import readExcelFile from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestForm,
  type TestResponse,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { beginExport, readExport } from '../support/export.ts';
import { createPagedSurvey, startFaultyService } from './service.ts';

// Form versions that change while a request reads them, or after the survey was read before.

const service = await startFaultyService();

const THEIRS = 'of its new owner';

/** Gives the first form version to another account, which stores responses at once. */
async function move(survey: TestSurvey): Promise<void> {
  const { id } = await createAccount();
  await sql('update surveys set userid = $2 where id = $1', [survey.forms[0]?.id, id]);
  await addResponses(
    survey,
    ['2020-01-01', '2026-03-01', '2030-01-01'].map((timestamp) => ({
      timestamp,
      response: THEIRS,
      question_ref: THEIRS,
    })),
  );
}

/** Calls `change` before the `n`th query of responses, counted from 0, reaches the database. */
function changeBefore(n: number, change: () => Promise<unknown>): void {
  let read = 0;
  let changed: Promise<unknown> | undefined;
  service.proxy.inject(async ({ query: text }: Exchange) => {
    if (!text.includes('from responses') || read++ < n) return;
    await (changed ??= change());
  });
}

test.each([
  ['/responses', { pageSize: 1000, count: 'true' }],
  ['/responses', { pageSize: 1000, question_ref: 'q0' }],
  ['/responses/csv', { count: 'true' }],
  ['/responses/csv', { layout: 'wide', value: 'label' }],
  ['/responses/csv', { layout: 'wide', repeats: 'drop' }],
  ['/responses/ndjson', {}],
  ['/responses/questions', {}],
  ['/responses/summary', { repeats: 'drop' }],
  ['/responses/digests', {}],
])(
  '%s?%j has no response to a form version that left the account after it was found',
  async (path, parameters) => {
    const survey = await createSurvey(await createAccount(), undefined, 3);
    const rows = Array.from({ length: 30 }, (_, i) => ({
      form: i % 3,
      question_ref: `q${i % 6}`,
      userid: `u${i}`,
    }));
    await addResponses(survey, rows);
    const read = () =>
      fetchApi(path + query({ survey: survey.name, ...parameters }), survey.account);
    changeBefore(0, () => move(survey));
    const { status, text, headers } = await read();
    service.proxy.inject();
    const afterwards = await read();
    const count = afterwards.headers.get('X-Total-Count');
    expect([status, headers.get('X-Total-Count'), text]).toEqual([200, count, afterwards.text]);
    expect(text).not.toContain(THEIRS);
  },
);

test('an export ends properly, without the rows that are stored after form versions move to another account and survey', async () => {
  const survey = await createPagedSurvey();
  const linesOf = async (forms: TestSurvey['forms']) =>
    String(await copyResponses({ ...survey, forms })).split('\n');
  const [whole, others] = [await linesOf(survey.forms), await linesOf(survey.forms.slice(2))];
  const second = { ...survey, forms: survey.forms.slice(1) };
  changeBefore(4, async () => {
    await move(survey);
    await sql(`update surveys set survey_name = 'x' where id = $1`, [second.forms[0]?.id]);
    await addResponses(second, [{ timestamp: '2030-01-01T00:00:00Z', response: THEIRS }]);
  });
  const { complete, bytes } = await readExport(await beginExport(survey));
  const lines = String(bytes).split('\n');
  expect(complete).toBe(true);
  expect(lines.filter((line) => others.includes(line))).toEqual(others);
  expect(lines.filter((line) => !whole.includes(line))).toEqual([]);
  expect(lines.length).toBeLessThan(whole.length);
});

/** Stores responses before the first page of a file is read, after the scans that precede it. */
function storeBeforePages(survey: TestSurvey, rows: readonly TestResponse[]): void {
  let stored: Promise<unknown> | undefined;
  service.proxy.inject(async ({ query: text }) => {
    if (/select (?:userid, )?parent_surveyid/.test(text))
      await (stored ??= addResponses(survey, rows));
  });
}

test('a workbook with a text that is too long, stored after the texts were measured, is aborted', async () => {
  const survey = await createSurvey(await createAccount());
  await addRows(survey, survey.forms);
  // in UTF-16
  storeBeforePages(survey, [{ timestamp: '2030-01-01T00:00:00Z', response: '🎉'.repeat(16_384) }]);
  const response = await beginExport(survey, { file: 'xlsx' });
  expect(response.statusCode).toBe(200);
  expect((await readExport(response)).complete).toBe(false);
});

test('a workbook has as a text what is stored after the columns of numbers were found', async () => {
  const survey = await createSurvey(await createAccount());
  const rows = ['1', '2', '3'].map((response, i) => ({
    userid: String(i),
    question_ref: 'q',
    response,
  }));
  await addResponses(survey, rows);
  storeBeforePages(survey, [
    { timestamp: '2030-01-01T00:00:00Z', userid: '4', question_ref: 'q', response: '007' },
  ]);
  const parameters = { layout: 'wide', numbers: 'true' };
  const { complete, bytes } = await readExport(
    await beginExport(survey, { file: 'xlsx', parameters }),
  );
  expect(complete).toBe(true);
  const [names = [], ...records] = (await readExcelFile(bytes))[0]?.data ?? [];
  expect(records.map((record) => record[names.indexOf('f0.q')])).toEqual([1, 2, 3, '007']);
});

const findsForms = ({ query: text }: Exchange) =>
  /from surveys\b/.test(text) && !text.includes('lateral');
const readsPage = ({ query: text }: Exchange) => text.includes('question_text');

/** Creates a survey of three form versions, and reads it once. */
async function createSeenSurvey(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), undefined, 3);
  await addRows(survey, survey.forms);
  await readExport(await beginExport(survey));
  return survey;
}

const addRows = (survey: TestSurvey, forms: readonly TestForm[]) =>
  addResponses(
    { ...survey, forms },
    Array.from({ length: 600 }, (_, i) => ({
      form: i % forms.length,
      question_ref: `q${i}`,
      response: survey.name,
    })),
  );

const readPage = ({ account, name }: TestSurvey) =>
  fetchApi(`/responses${query({ survey: name })}`, account);

/**
 * Sets a fault. The form versions are found after the page that is read meanwhile has arrived: else
 * it may be aborted before.
 */
function injectAfterPage(fault: (exchange: Exchange) => Promise<void>): void {
  const { promise: pageArrived, resolve } = Promise.withResolvers<void>();
  service.proxy.inject(async (exchange) => {
    if (readsPage(exchange)) resolve();
    if (findsForms(exchange)) await pageArrived;
    await fault(exchange);
  });
}

test.each(['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx'])(
  '%s of a survey that was read before reads it while its form versions are being found',
  async (path) => {
    const survey = await createSeenSurvey();
    let lookups = 0;
    const { headers, held, release } = await service.hold((exchange) => {
      if (findsForms(exchange)) lookups++;
      return true;
    });
    const reading = fetchApi(path + query({ survey: survey.name }), { ...survey.account, headers });
    await expect.poll(held).toBe(2);
    expect(lookups).toBe(1);
    release();
    expect((await reading).status).toBe(200);
  },
);

test('nothing is sent before the form versions have been found', async () => {
  const survey = await createSeenSurvey();
  let pages = 0;
  injectAfterPage(async (exchange) => {
    if (readsPage(exchange)) pages++;
    else exchange.reply(400, '{"message":"no","code":"42P01"}');
  });
  expect((await readPage(survey)).status).toBe(500);
  expect(pages).toBe(1);
});

// test/api/model.test.ts makes changes between two requests.
test.each<[string, (survey: TestSurvey) => Promise<unknown>]>([
  [
    'a new form version',
    async (survey) => addRows(survey, (await createSurvey(survey.account, survey.name)).forms),
  ],
  ['a form version that moves to another account', move],
  [
    'a form version that gets another shortcode',
    ({ forms: [form] }) =>
      sql(`update surveys set shortcode = 'renamed' where id = $1`, [form?.id]),
  ],
  [
    'a survey that is renamed',
    ({ name }) => sql(`update surveys set survey_name = 'x' where survey_name = $1`, [name]),
  ],
])(
  'a file has the rows of the survey as it is when its form versions are found: %s',
  async (_, change) => {
    const survey = await createSeenSurvey();
    let changed: Promise<unknown> | undefined;
    injectAfterPage(async (exchange) => {
      if (findsForms(exchange)) await (changed ??= change(survey));
    });
    const { name, account } = survey;
    const { text } = await fetchApi(`/responses/csv${query({ survey: name })}`, account);
    const select = 'select id, shortcode from surveys where userid = $1 and survey_name = $2';
    const forms = await sql<TestForm>(select, [account.id, name]);
    const error = errorBody(
      `No responses were found for survey: ${name} for user: ${account.email}`,
    );
    expect(text).toBe(
      forms.length === 0 ? error : String(await copyResponses({ ...survey, forms })),
    );
  },
);

test.each<[what: string, fault: (exchange: Exchange) => void, abandoned: number]>([
  ['is cancelled', (exchange) => exchange.hang(), 1],
  ['does not fail the request', (exchange) => exchange.reply(400, '{"message":"no"}'), 0],
])('a page of form versions that have changed %s', async (_, fault, abandoned) => {
  const survey = await createSeenSurvey();
  await createSurvey(survey.account, survey.name);
  let pages = 0;
  injectAfterPage(async (exchange) => {
    if (!readsPage(exchange)) return undefined;
    if (pages++ === 0) return fault(exchange);
    await expect.poll(() => service.proxy.abandoned).toBe(abandoned);
    return undefined;
  });
  expect((await readPage(survey)).status).toBe(200);
  expect(service.proxy.requests).toBe(3);
});

test('an isolate forgets the surveys that it read first if those that it has read take too much memory', async () => {
  const createLarge = async () => {
    const survey = await createSurvey(await createAccount());
    await sql(`update surveys set shortcode = repeat('x', 600000) where id = $1`, [
      survey.forms[0]?.id,
    ]);
    await addResponses(survey, [{}]);
    expect((await readPage(survey)).status).toBe(200);
    return survey;
  };
  const first = await createSeenSurvey();
  // a page of the form versions that it had would be read in vain
  await createSurvey(first.account, first.name);
  let last = first;
  for (let i = 0; i < 8; i++) last = await createLarge(); // of 4 MiB in all
  service.proxy.inject();
  expect((await readPage(first)).status).toBe(200);
  expect(service.proxy.requests).toBe(2);

  injectAfterPage(async () => {});
  expect((await readPage(last)).status).toBe(200); // its form versions wait until its page arrives
});

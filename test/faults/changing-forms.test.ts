import readExcelFile from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { type Parameters, get } from '../api/requests.ts';
import { fetchApi } from '../support/api.ts';
import {
  type TestAccount,
  type TestResponse,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
  sql,
  storeKey,
  storeSurvey,
} from '../support/data.ts';
import { beginExport, download, readExport } from '../support/export.ts';
import { readZip } from '../support/xlsx.ts';
import { createPagedSurvey, isPage, startFaultyService } from './service.ts';

// Form versions that change while a request reads them, or after the survey was read before.

const service = await startFaultyService();

const THEIRS = 'of its new owner';
const FORMS = 16;

const createForms = () => storeSurvey(responsesTo(FORMS));

const responsesTo = (forms: number): TestResponse[] =>
  Array.from({ length: 5 * forms }, (_, i) => ({
    form: i % forms,
    question_ref: `q${i % 6}`,
    userid: `u${i}`,
    response: `${i}`,
  }));

/** Gives a form version to another account, which stores responses at once. */
async function move({ forms, ...survey }: TestSurvey, form: number): Promise<void> {
  const { id } = await createAccount();
  await sql('update surveys set userid = $2 where id = $1', [forms[form]?.id, id]);
  await addResponses(
    { ...survey, forms: forms.slice(form) },
    ['2020-01-01', '2026-03-01', '2030-01-01'].map((timestamp) => ({
      timestamp,
      response: THEIRS,
      question_ref: THEIRS,
    })),
  );
}

const changes: Readonly<Record<string, (survey: TestSurvey) => Promise<unknown>>> = {
  'a new form version': async ({ account, name }) =>
    addResponses(await createSurvey(account, name), responsesTo(1)),
  'a form version that moves to another account': (survey) => move(survey, 0),
  'a form version that moves to another survey': ({ forms: [, form] }) =>
    sql(`update surveys set survey_name = 'x' where id = $1`, [form?.id]),
  'a form version that gets another shortcode': ({ forms: [, , form] }) =>
    sql(`update surveys set shortcode = 'renamed' where id = $1`, [form?.id]),
  'a survey that is renamed': ({ name, account }) =>
    sql(`update surveys set survey_name = 'y' where survey_name = $1 and userid = $2`, [
      name,
      account.id,
    ]),
};

/** Another key of the account, which sees the same. For the service, its surveys are others. */
async function createReader({ account }: TestSurvey): Promise<TestAccount> {
  const key = generateLimitedApiKey();
  await storeKey(account.id, key, { limits: { v: 1 } });
  await fetchApi('/key', { key }); // caches it
  return { ...account, key };
}

type Request = [path: string, parameters: Parameters];

/**
 * Requests, and how many SQL requests each takes of a survey that was read before: all of them, and
 * those that are sent again if the form versions have changed.
 */
const kinds: [...Request, requests: number, more: 0 | 1][] = [
  ['/responses', {}, 1, 1],
  ['/responses', { pageSize: 1000, count: 'true' }, 2, 1],
  ['/responses', { question_ref: 'q0', count: 'true', order: 'desc' }, 2, 1],
  ['/responses/csv', { question_ref: ['q0', 'q1'], metadata: 'a' }, 1, 1],
  ['/responses/csv', { layout: 'wide', repeats: 'drop' }, 2, 1],
  ['/responses/ndjson', { count: 'true' }, 2, 1],
  ['/responses/xlsx', { codebook: 'true' }, 4, 1],
  ['/responses/xlsx', { layout: 'wide', numbers: 'true', codebook: 'true' }, 5, 1],
  ['/responses/questions', {}, 2, 0],
  ['/responses/summary', { repeats: 'drop' }, 2, 0],
  ['/responses/answers', {}, 2, 0],
  ['/responses/digests', {}, 1, 0],
  ['/responses/form-data', {}, 2, 0],
];

/** @returns what a request gets, and the number of its SQL requests */
async function read(survey: TestSurvey, account: TestAccount, [path, parameters]: Request) {
  const before = service.proxy.dataRequests;
  const { status, headers, bytes } = await get(path, { ...survey, account }, parameters);
  const isWorkbook = status === 200 && path.endsWith('xlsx');
  return {
    requests: service.proxy.dataRequests - before,
    received: {
      status,
      headers: ['ETag', 'Link', 'X-Total-Count'].map((header) => headers.get(header)),
      text: isWorkbook ? [...readZip(bytes).values()].join('\n') : String(bytes),
    },
  };
}

test.each(kinds)(
  '%s %j of a survey that was read before has its form versions as they are now, in %i SQL requests and %i more if they have changed',
  async (path, parameters, requests, more) => {
    const survey = await createForms();
    const readAs = (account: TestAccount) => read(survey, account, [path, parameters]);
    await readAs(survey.account);
    for (const [what, change] of Object.entries(changes)) {
      const before = await readAs(survey.account);
      expect({ what, requests: before.requests }).toEqual({ what, requests });
      await change(survey);
      const after = await readAs(survey.account);
      const { received } = await readAs(await createReader(survey));
      const sent = received.status === 200 ? requests + more : after.requests;
      expect({ what, ...after }).toEqual({ what, received, requests: sent });
    }
  },
);

/**
 * Calls `change` before the `n`th query of responses, counted from 0, reaches the database.
 *
 * @returns whether it was called
 */
function changeBefore(n: number, change: () => Promise<unknown>): () => boolean {
  let count = 0;
  let changed: Promise<unknown> | undefined;
  service.proxy.inject(async ({ query: text }) => {
    if (!text.includes('from responses') || count++ < n) return;
    await (changed ??= change());
  });
  return () => changed !== undefined;
}

test.each(kinds)(
  '%s %j has no response to a form version that leaves the account meanwhile, whether the survey was read before or not',
  async (path, parameters) => {
    const survey = await createForms();
    const readAs = (account: TestAccount) => read(survey, account, [path, parameters]);
    await readAs(survey.account);
    let moved = 0;
    for (let n = 0, isChanged = true; isChanged; n++) {
      for (const account of [survey.account, await createReader(survey)]) {
        const hasChanged = changeBefore(n, () => move(survey, moved++));
        const { received } = await readAs(account);
        service.proxy.inject();
        isChanged = hasChanged();
        expect([received.status, received.text.includes(THEIRS)]).toEqual([200, false]);
        const afterwards = n === 0 ? await readAs(survey.account) : { received };
        expect(received).toEqual(afterwards.received);
      }
    }
    expect(moved).toBeGreaterThanOrEqual(2);
  },
);

test.each([
  ['/responses', { count: 'true' }, 3],
  ['/responses/csv', { layout: 'wide' }, 3],
])(
  '%s %j is prepared again once, although the form versions change again',
  async (path, parameters, requests) => {
    const survey = await createForms();
    await read(survey, survey.account, [path, parameters]);
    let moved = 0;
    service.proxy.inject(() => move(survey, moved++));
    const { received, requests: sent } = await read(survey, survey.account, [path, parameters]);
    expect([received.status, received.text.includes(THEIRS)]).toEqual([200, false]);
    expect([sent, moved]).toEqual([requests, requests]);
  },
);

test('an export ends properly, without the rows that are stored after form versions move to another account and survey', async () => {
  const survey = await createPagedSurvey();
  const linesOf = async (forms: TestSurvey['forms']) =>
    String(await copyResponses({ ...survey, forms })).split('\n');
  const [whole, others] = [await linesOf(survey.forms), await linesOf(survey.forms.slice(2))];
  const second = { ...survey, forms: survey.forms.slice(1) };
  const hasChanged = changeBefore(4, async () => {
    await move(survey, 0);
    await sql(`update surveys set survey_name = 'x' where id = $1`, [second.forms[0]?.id]);
    await addResponses(second, [{ timestamp: '2030-01-01T00:00:00Z', response: THEIRS }]);
  });
  const { complete, bytes } = await download(survey);
  const lines = String(bytes).split('\n');
  expect([complete, hasChanged()]).toEqual([true, true]);
  expect(lines.filter((line) => others.includes(line))).toEqual(others);
  expect(lines.filter((line) => !whole.includes(line))).toEqual([]);
  expect(lines.length).toBeLessThan(whole.length);
});

/**
 * Downloads a workbook, and stores responses before its first page is read, after the scans that
 * precede it.
 */
async function readWorkbook(
  survey: TestSurvey,
  rows: readonly TestResponse[],
  parameters: Record<string, string> = {},
) {
  let stored: Promise<unknown> | undefined;
  service.proxy.inject(async (exchange) => {
    if (isPage(exchange)) await (stored ??= addResponses(survey, rows));
  });
  const response = await beginExport(survey, { file: 'xlsx', parameters });
  const file = await readExport(response);
  expect([response.statusCode, stored !== undefined]).toEqual([200, true]);
  return file;
}

test('a workbook with a text that is too long, stored after the texts were measured, is aborted', async () => {
  const survey = await storeSurvey(Array.from({ length: 600 }, () => ({})));
  // in UTF-16
  const rows = [{ timestamp: '2030-01-01T00:00:00Z', response: '🎉'.repeat(16_384) }];
  expect((await readWorkbook(survey, rows)).complete).toBe(false);
});

test('a workbook has as a text what is stored after the columns of numbers were found', async () => {
  const rows = ['1', '2', '3'].map((response, i) => ({
    userid: String(i),
    question_ref: 'q',
    response,
  }));
  const survey = await storeSurvey(rows);
  const { complete, bytes } = await readWorkbook(
    survey,
    [{ timestamp: '2030-01-01T00:00:00Z', userid: '4', question_ref: 'q', response: '007' }],
    { layout: 'wide', numbers: 'true' },
  );
  expect(complete).toBe(true);
  const [names = [], ...records] = (await readExcelFile(bytes))[0]?.data ?? [];
  expect(records.map((record) => record[names.indexOf('f0.q')])).toEqual([1, 2, 3, '007']);
});

/** Creates a survey with a response, whose form version has a shortcode of so many characters. */
async function createNamed(length: number): Promise<TestSurvey> {
  const survey = await storeSurvey([{}]);
  await sql(`update surveys set shortcode = repeat('x', $2) where id = $1`, [
    survey.forms[0]?.id,
    length,
  ]);
  return survey;
}

test.each<Request>([
  ['/responses', {}],
  ['/responses/csv', { count: 'true' }],
  ['/responses/csv', { layout: 'wide' }],
])('%s %j of a survey with a long list of form versions can be read again', async (...request) => {
  const survey = await createNamed(800_000);
  for (let i = 0; i < 2; i++)
    expect((await read(survey, survey.account, request)).received.status).toBe(200);
});

test('an isolate forgets the surveys that it read first if those that it has read take too much memory', async () => {
  const requestsFor = async (survey: TestSurvey) =>
    (await read(survey, survey.account, ['/responses/csv', {}])).requests;
  const first = await createForms();
  await requestsFor(first);
  expect(await requestsFor(first)).toBe(1);

  let last = first;
  // of 4 MiB in all
  for (let i = 0; i < 75; i++) await requestsFor((last = await createNamed(60_000)));
  expect(await requestsFor(first)).toBe(2);
  expect(await requestsFor(last)).toBe(1);
});

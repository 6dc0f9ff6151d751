import { expect, test } from 'vitest';
import { errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestForm,
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createSurvey,
  sql,
} from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { beginExport, readExport } from '../support/export.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService();

const findsForms = ({ query: text }: Exchange) => /from surveys\b/.test(text) && !text.includes('lateral');
const readsPage = ({ query: text }: Exchange) => text.includes('question_text');

/** Creates a survey of three form versions, and reads it once. */
async function createSeenSurvey(name?: string): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), name, 3);
  await addRows(survey, survey.forms);
  await readExport(await beginExport(survey));
  return survey;
}

const addRows = (survey: TestSurvey, forms: readonly TestForm[]) =>
  addResponses(
    { ...survey, forms },
    Array.from({ length: 600 }, (_, i) => ({ form: i % forms.length, question_ref: `q${i}`, response: survey.name })),
  );

const formsOf = ({ account, name }: TestSurvey) =>
  sql<TestForm>('select id, shortcode from surveys where userid = $1 and survey_name = $2', [account.id, name]);

const readPage = ({ account, name }: TestSurvey, pageSize = 25) =>
  fetchApi(`/responses${query({ survey: name, pageSize })}`, { key: account.key });

/** Sets a fault. The form versions are found after the page that is read meanwhile has arrived: else it may be aborted before. */
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
    const arrived: Exchange[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    service.proxy.inject((exchange) => {
      arrived.push(exchange);
      return released;
    });
    const reading = fetchApi(path + query({ survey: survey.name }), { key: survey.account.key });
    await expect.poll(() => arrived.length).toBe(2);
    expect(arrived.filter(findsForms)).toHaveLength(1);
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

const changes: [string, (survey: TestSurvey) => Promise<unknown>][] = [
  [
    'a new form version',
    async (survey) => {
      const added = await createSurvey(survey.account, survey.name);
      await addRows(survey, added.forms);
    },
  ],
  [
    'a form version that is deleted',
    async ({ forms: [form] }) => {
      await sql('delete from responses where surveyid = $1', [form?.id]);
      await sql('delete from surveys where id = $1', [form?.id]);
    },
  ],
  [
    'a form version that moves to another survey',
    ({ forms: [form] }) => sql(`update surveys set survey_name = 'another' where id = $1`, [form?.id]),
  ],
  [
    'a form version that moves to another account',
    async ({ forms: [form] }) =>
      sql('update surveys set userid = $2 where id = $1', [form?.id, (await createAccount()).id]),
  ],
  [
    'a form version that gets another shortcode',
    ({ forms: [form] }) => sql(`update surveys set shortcode = 'renamed' where id = $1`, [form?.id]),
  ],
  [
    'a survey that is renamed',
    ({ name }) => sql(`update surveys set survey_name = 'x' where survey_name = $1`, [name]),
  ],
];

// test/api/model.test.ts makes changes between two requests.
test.each(changes)(
  'a file has the rows of the survey as it is when its form versions are found: %s',
  async (_, change) => {
    const { forms, ...survey } = await createSeenSurvey();
    let changed: Promise<unknown> | undefined;
    injectAfterPage(async (exchange) => {
      if (findsForms(exchange)) await (changed ??= change({ forms, ...survey }));
    });
    const { name, account } = survey;
    const { text } = await fetchApi(`/responses/csv${query({ survey: name })}`, { key: account.key });
    const found = await formsOf({ forms, ...survey });
    const error = errorBody(`No responses were found for survey: ${name} for user: ${account.email}`);
    expect(text).toBe(found.length === 0 ? error : String(await copyResponses({ name, account, forms: found })));
  },
);

test('a page of form versions that have changed is cancelled', async () => {
  const survey = await createSeenSurvey();
  await createSurvey(survey.account, survey.name);
  let pages = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  injectAfterPage(async (exchange) => {
    if (!readsPage(exchange)) return;
    if (pages++ > 0) await released;
    else exchange.hang();
  });
  const reading = readPage(survey);
  await expect.poll(() => service.proxy.abandoned).toBe(1);
  release();
  expect((await reading).status).toBe(200);
  expect(service.proxy.requests).toBe(3);
});

test('a page of form versions that have changed does not fail the request', async () => {
  const survey = await createSeenSurvey();
  await createSurvey(survey.account, survey.name);
  let pages = 0;
  injectAfterPage(async (exchange) => {
    if (readsPage(exchange) && pages++ === 0) exchange.reply(400, '{"message":"no"}');
  });
  expect((await readPage(survey)).status).toBe(200);
  expect(service.proxy.requests).toBe(3);
});

test('an isolate forgets the surveys that it read first if those that it has read take too much memory', async () => {
  const createLarge = async () => {
    const survey = await createSurvey(await createAccount());
    await sql(`update surveys set shortcode = repeat('x', 600000) where id = $1`, [survey.forms[0]?.id]);
    await addResponses(survey, [{}]);
    expect((await readPage(survey)).status).toBe(200);
    return survey;
  };
  const first = await createSeenSurvey();
  await createSurvey(first.account, first.name); // a page of the form versions that it had would be read in vain
  const others: TestSurvey[] = [];
  for (let i = 0; i < 8; i++) others.push(await createLarge()); // of 4 MiB in all
  const requestsFor = async (survey: TestSurvey) => {
    service.proxy.inject();
    expect((await readPage(survey)).status).toBe(200);
    return service.proxy.requests;
  };
  expect(await requestsFor(first)).toBe(2);

  const last = others.at(-1) as TestSurvey;
  injectAfterPage(async () => {});
  expect((await readPage(last)).status).toBe(200); // its form versions wait until its page arrives
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { fetchApi, origin, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
  storeKey,
} from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { eventsIn } from '../support/request-log.ts';
import { firstAttempts, limitOf, withFaultyService } from './service.ts';

const service = withFaultyService();

/** More than an export's first page. */
const ROWS = 2000;
/** Index entries that a query which matches nothing has to walk. */
const MANY_ROWS = 20_000;
const ACCOUNTS = 11;
const KEYS = 5;

/** For each of several accounts a survey, with each of the account's keys. */
let accounts: TestSurvey[][];
/** Those of the account that takes what it can get. */
let greedy: TestSurvey[];
let other: TestSurvey;

beforeAll(async () => {
  accounts = await Promise.all(times(ACCOUNTS, () => createKeys()));
  [greedy, [other]] = accounts as [TestSurvey[], [TestSurvey]];
  for (const { account } of accounts.flat()) await fetchApi('/key', account); // caches the keys
});

/** Creates an account with a survey. @returns the survey, with each of the account's keys */
async function createKeys(rows = ROWS): Promise<TestSurvey[]> {
  const survey = await createBulkSurvey(await createAccount(), { rows, forms: 2 });
  const keys = times(KEYS, generateApiKey);
  for (const key of keys) await storeKey(survey.account.id, key);
  return keys.map((key) => withKeyOf(survey, key));
}

const withKeyOf = (survey: TestSurvey, key: string): TestSurvey => ({ ...survey, account: { ...survey.account, key } });

/** The greedy account's survey, with each of its keys in turn. */
const withKey = (i: number) => greedy[i % KEYS] as TestSurvey;

/** Responses to end after the test. */
const open: IncomingMessage[] = [];
afterEach(() => open.splice(0).forEach((response) => response.destroy()));

/** Holds the queries of requests with these headers that `applies` is true for. */
function hold(applies: (exchange: Exchange) => boolean) {
  const trial = randomUUID();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const watch = service.proxy.watch(trial, (exchange) => {
    if (!applies(exchange)) return undefined;
    held++;
    return released;
  });
  onTestFinished(() => {
    release();
    watch[Symbol.dispose]();
  });
  return { headers: { 'Test-Trial': trial }, held: () => held, release };
}

/** Recognises an export's pages after the first, which has 500 rows and decides the status. */
const isLaterPage = (exchange: Exchange) => exchange.query.includes('question_text') && limitOf(exchange) !== 500;
const isCount = ({ query: sql }: Exchange) => sql.includes('select count(*) from responses');
const isDigests = ({ query: sql }: Exchange) => sql.includes('md5(');

type Send = (survey: TestSurvey, headers?: Record<string, string>) => Promise<{ readonly status: number }>;

const page =
  (parameters: Record<string, string | number>): Send =>
  ({ name, account: { key } }, headers = {}) =>
    fetchApi(`/responses${query({ survey: name, ...parameters })}`, { key, headers });
const count = page({ pageSize: 1, count: 'true' });
const digests: Send = ({ name, account: { key } }, headers = {}) =>
  fetchApi(`/responses/digests${query({ survey: name })}`, { key, headers });

/** Starts a download whose client reads nothing yet. */
async function begin(path: string, { account: { key } }: TestSurvey, headers = {}): Promise<IncomingMessage> {
  const request = get(`${origin()}/api/v1${path}`, {
    agent: false,
    headers: { Authorization: `Bearer ${key}`, ...headers },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  open.push(response);
  return response.on('error', () => {}).pause();
}

const exported = async (survey: TestSurvey, headers: Record<string, string> = {}) => {
  const response = await beginExport(survey, { headers });
  open.push(response.on('error', () => {}).pause());
  return { status: response.statusCode as number, response };
};

/** The statuses of these requests, as they arrive. */
function statusesOf(requests: readonly Promise<{ readonly status: number }>[]): number[] {
  const statuses: number[] = [];
  for (const request of requests) void request.then(({ status }) => statuses.push(status));
  return statuses;
}

const times = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i));

/** Survey names by what their responses are. */
const large = {
  questions: async () => {
    const survey = await createSurvey(greedy[0]?.account as TestSurvey['account']);
    const text = '\u0085'.repeat(60);
    await addResponses(
      survey,
      times(15_000, (i) => ({ question_ref: `q${i}`, question_idx: i, question_text: text })),
    );
    return survey;
  },
  answers: async () => {
    const survey = await createSurvey(greedy[0]?.account as TestSurvey['account']);
    const response = 'x'.repeat(4096);
    await addResponses(
      survey,
      times(5461, (i) => ({ userid: `u${i}`, response })),
    );
    return survey;
  },
};

test.each<[what: string, stall: () => Promise<unknown>]>([
  [
    'codebooks of 15,000 questions and pages of 22 MB',
    async () => {
      const [codebook, answers] = await Promise.all([large.questions(), large.answers()]);
      await Promise.all([
        ...times(2, (i) => begin(`/responses/questions${query({ survey: codebook.name })}`, withKey(i))),
        ...times(2, (i) => begin(`/responses${query({ survey: answers.name, pageSize: 5461 })}`, withKey(i))),
      ]);
    },
  ],
  [
    'exports with each of three keys',
    async () => {
      const { headers, held } = hold(isLaterPage);
      const started = times(12, (i) => exported(withKey(i % 3), headers));
      for (const one of started) one.catch(() => {});
      await expect.poll(held).toBeGreaterThanOrEqual(4);
    },
  ],
])('while the clients of one account do not read %s, pages and exports of others start', async (_, stall) => {
  await stall();
  const others = accounts.slice(1, 10).map(([survey]) => survey as TestSurvey);
  const pages = await Promise.all(others.map((one) => page({ pageSize: 500 })(one)));
  expect(pages.map(({ status }) => status)).toEqual(others.map(() => 200));
  const files = await Promise.all(others.map((one) => beginExport(one)));
  for (const file of files) expect([file.statusCode, (await readExport(file)).complete]).toEqual([200, true]);
});

test('ten accounts have an export each that no other can take, and four at most', async () => {
  const { headers, held, release } = hold(isLaterPage);
  const running: Promise<{ status: number; response: IncomingMessage }>[] = [];
  const start = (survey: TestSurvey) => {
    const one = exported(survey, headers);
    running.push(one);
    return one;
  };
  for (const keys of accounts.slice(0, 2)) for (const survey of keys.slice(0, 4)) await start(survey);
  for (const [survey] of accounts.slice(2, 10)) await start(survey as TestSurvey);
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
  await expect.poll(held).toBeGreaterThanOrEqual(running.length);

  const refused = [greedy[4], accounts[10]?.[0]].map(async (survey) => {
    const { status, response } = await exported(survey as TestSurvey);
    return [status, response.headers['x-error-code'], response.headers['retry-after']];
  });
  expect(await Promise.all(refused)).toEqual([
    [429, 'rate_limited', expect.stringMatching(/^\d+$/)],
    [503, 'overloaded', expect.stringMatching(/^\d+$/)],
  ]);
  release();
  for (const { response } of await Promise.all(running)) expect((await readExport(response)).complete).toBe(true);
});

test('ten accounts have a scan each that no other can take, and two at most', async () => {
  const { headers, held, release } = hold(isCount);
  const own = times(4, (i) => count(withKey(i), headers));
  await expect.poll(held).toBe(2);
  const others = accounts.slice(1, 10).map(([survey]) => count(survey as TestSurvey, headers));
  await expect.poll(held).toBe(2 + others.length);
  release();
  for (const { status } of await Promise.all([...own, ...others])) expect(status).toBe(200);
});

test.each<[what: string, running: number, applies: (exchange: Exchange) => boolean, send: Send]>([
  ['exports', 4, isLaterPage, exported],
  ['counts', 2, isCount, count],
  ['digests', 2, isDigests, digests],
])('of many %s of an account, %i run and four wait; the others get 429 at once', async (_, running, applies, send) => {
  const { headers, held, release } = hold(applies);
  const first = times(running, (i) => send(withKey(i), headers));
  await expect.poll(held).toBeGreaterThanOrEqual(running);
  const further = times(60, (i) => send(withKey(i), headers));
  const statuses = statusesOf(further);
  await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(56);
  expect(statuses).toEqual(times(56, () => 429));
  expect((await page({ pageSize: 1 })(other)).status).toBe(200);

  release();
  for (const one of await Promise.all(first)) {
    expect(one.status).toBe(200);
    if ('response' in one) await readExport(one.response as IncomingMessage); // makes room for the next
  }
  await Promise.all(further);
  expect(statuses.slice(56)).toEqual([200, 200, 200, 200]);
});

test('the scans of an account take no turns from its pages, lists and files, whoever else requests pages', async () => {
  const { headers, held, release } = hold(isCount);
  const scans = times(2, (i) => count(withKey(i), headers));
  await expect.poll(held).toBe(2);
  expect((await page({ pageSize: 1 })(other)).status).toBe(200);
  expect((await page({ pageSize: 500 })(withKey(2))).status).toBe(200);
  expect((await fetchApi('/surveys', withKey(3).account)).status).toBe(200);
  const { response } = await exported(withKey(4));
  expect((await readExport(response)).complete).toBe(true);
  release();
  for (const { status } of await Promise.all(scans)) expect(status).toBe(200);
});

test('a page that waits for the turn of its query is read when one comes, although queries before it fail', async () => {
  const isFirst = firstAttempts();
  const { headers, held } = hold((exchange) => exchange.query.includes('question_text') && isFirst(exchange));
  const surveys = await createKeys(1); // its five queries are held, until they are repeated
  const slow = surveys.map((survey, i) => page({ pageSize: i + 1 })(survey, headers));
  await expect.poll(held).toBe(KEYS);
  const next = await page({ pageSize: 1 })(surveys[0] as TestSurvey);
  expect(next.status).toBe(200);
  for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
});

test('requests whose clients have left hold nothing', async () => {
  const { name, account } = greedy[0] as TestSurvey;
  const left = times(100, async (i) => {
    const signal = AbortSignal.timeout(i);
    const headers = { Authorization: `Bearer ${account.key}` };
    await fetch(`${origin()}/api/v1/responses/csv${query({ survey: name })}`, { headers, signal }).catch(() => {});
  });
  await Promise.all(left);
  // The runtime notices only after some time that they have left.
  const statuses = async () => {
    const begun = await Promise.all(times(4, (i) => exported(withKey(i))));
    for (const { response } of begun) response.destroy();
    return begun.map(({ status }) => status);
  };
  await expect.poll(statuses, { interval: 500 }).toEqual([200, 200, 200, 200]);
});

test('a page whose filter matches nothing is a scan, and one that matches at once is not', async () => {
  const surveys = await createKeys(MANY_ROWS);
  const { headers, held, release } = hold(isCount);
  const scans = surveys.slice(0, 2).map((survey) => count(survey, headers));
  await expect.poll(held).toBe(2);

  const waiting = times(5, (i) => page({ question_ref: 'nope', pageSize: 1 })(surveys[i] as TestSurvey));
  const statuses = statusesOf(waiting);
  await expect.poll(() => statuses).toEqual([429]);
  expect((await page({ question_ref: 'question_1', pageSize: 25 })(surveys[0] as TestSurvey)).status).toBe(200);
  expect((await page({ question_ref: 'nope', pageSize: 1 })(other)).status).toBe(200);
  release();
  await Promise.all([...scans, ...waiting]);
  expect(statuses).toEqual([429, 200, 200, 200, 200]);
});

test('the codebook of a workbook is held, and counted, while the workbook is sent', async () => {
  const survey = await createSurvey(greedy[0]?.account as TestSurvey['account']);
  const text = 'x'.repeat(80);
  await addResponses(
    survey,
    times(15_000, (i) => ({ question_ref: `q${i}`, question_idx: i, question_text: text })),
  );
  const isPage = (exchange: Exchange) => isLaterPage(exchange) && exchange.query.includes('parent_surveyid');
  /** Starts as many workbooks as an account can have. @returns the status of another codebook meanwhile */
  const statusBeside = async (codebook: boolean) => {
    const { headers, release } = hold(isPage);
    const path = `/responses/xlsx${query({ survey: survey.name, codebook: String(codebook) })}`;
    const workbooks = await Promise.all(times(4, (i) => begin(path, withKey(i), headers)));
    const codebookBeside = await begin(`/responses/questions${query({ survey: survey.name })}`, withKey(0));
    release();
    for (const response of [...workbooks, codebookBeside]) await readExport(response);
    return codebookBeside.statusCode;
  };
  // Five of some 5 MiB each are more than the 27 MiB that an account can have.
  expect(await statusBeside(true)).toBe(429);
  expect(await statusBeside(false)).toBe(200);
});

test('a page whose client takes nothing is ended, and a file is not', async () => {
  const { name } = await large.answers();
  const ended = () => eventsIn(service.stack.worker, 'export failed').length;
  const before = ended();
  const responses = [
    await begin(`/responses${query({ survey: name, pageSize: 5461 })}`, withKey(0)),
    await begin(`/responses/csv${query({ survey: name })}`, withKey(0)),
  ];
  await expect.poll(ended).toBe(before + 1);
  const complete = await Promise.all(responses.map(async (response) => (await readExport(response)).complete));
  expect(complete).toEqual([false, true]);
});

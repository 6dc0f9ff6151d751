import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
  storeKey,
} from '../support/data.ts';
import { open, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { eventsIn } from '../support/request-log.ts';
import { forward, isLaterPage, isPage, startFaultyService } from './service.ts';

const service = await startFaultyService();

const KEYS = 5;
const MINUTE = 60_000;

/** Creates a survey of a new account, with more responses than an export's first page. */
const createOne = async () => createBulkSurvey(await createAccount(), { rows: 600, forms: 2 });
/** Surveys of several accounts. */
const others = await Promise.all(times(10, createOne));
const [other, last] = [others[0], others[9]] as [TestSurvey, TestSurvey];
/** A survey of an account that takes what it can get, with each of the account's keys. */
const greedy = await withKeys(await createOne());
/**
 * A survey of an account that has no other: more than sockets and the pages read ahead can hold.
 */
const bulk = await createBulkSurvey(await createAccount(), {
  rows: 5000,
  forms: 5,
  columns: { response: `repeat('x', 4000)` },
});
// caches the keys
for (const { account } of [...greedy, ...others]) await fetchApi('/key', account);

async function withKeys({ account, ...survey }: TestSurvey): Promise<TestSurvey[]> {
  const keys = times(KEYS, generateApiKey);
  for (const key of keys) await storeKey(account.id, key);
  return keys.map((key) => Object.assign({}, survey, { account: { ...account, key } }));
}

/** The greedy account, with each of its keys in turn. */
const accountOf = (i: number) => withKey(i).account;
const withKey = (i: number) => greedy[i % KEYS] as TestSurvey;

/** Creates a survey of the greedy account. */
async function createLarge(
  count: number,
  row: (i: number) => Parameters<typeof addResponses>[1][number],
) {
  const survey = await createSurvey(accountOf(0));
  await addResponses(survey, times(count, row));
  return survey;
}

const createQuestions = (text: string) =>
  createLarge(15_000, (i) => ({ question_ref: `q${i}`, question_idx: i, question_text: text }));
let answers: Promise<TestSurvey> | undefined;
/** A survey of 22 MB. */
const largeAnswers = () =>
  (answers ??= createLarge(5461, (i) => ({ userid: `u${i}`, response: 'x'.repeat(4096) })));

/** Downloads to end after the test, with a reset, which the runtime notices at once. */
const running: IncomingMessage[] = [];
afterEach(() => running.splice(0).forEach(({ socket }) => socket.resetAndDestroy()));

/** Starts a download whose client reads nothing yet. */
async function begin(path: string, key: string, headers = {}): Promise<IncomingMessage> {
  const response = await open(path, { key, headers });
  running.push(response.on('error', () => {}).pause());
  return response;
}

type Headers = Record<string, string>;
type Sent = { readonly status: number; readonly response?: IncomingMessage };
type Send = (survey: TestSurvey, headers?: Headers) => Promise<Sent>;

const exported = async ({ name, account }: TestSurvey, headers: Headers = {}) => {
  const response = await begin(`/responses/csv${query({ survey: name })}`, account.key, headers);
  return { status: response.statusCode as number, response };
};
const page =
  (parameters: Record<string, string | number>): Send =>
  ({ name, account: { key } }, headers = {}) =>
    fetchApi(`/responses${query({ survey: name, ...parameters })}`, { key, headers });
const count = page({ pageSize: 1, count: 'true' });
const digests: Send = ({ name, account: { key } }, headers = {}) =>
  fetchApi(`/responses/digests${query({ survey: name })}`, { key, headers });

const isCount = ({ query: sql }: Exchange) => sql.includes('select count(*) from responses');
const isDigests = ({ query: sql }: Exchange) => sql.includes('md5(');

function times<T>(length: number, make: (i: number) => T): T[] {
  return Array.from({ length }, (_, i) => make(i));
}

test('while clients do not read codebooks of 15,000 questions and pages of 22 MB, pages and exports of others start', async () => {
  const [codebook, pages] = await Promise.all([
    createQuestions('\u0085'.repeat(60)),
    largeAnswers(),
  ]);
  const paths = [
    `/responses/questions${query({ survey: codebook.name })}`,
    `/responses${query({ survey: pages.name, pageSize: 5461 })}`,
  ];
  await Promise.all(times(4, (i) => begin(paths[i % 2] as string, accountOf(i).key)));
  const started = await Promise.all(others.slice(1).map((one) => page({ pageSize: 500 })(one)));
  expect(started.map(({ status }) => status)).toEqual(times(9, () => 200));
  const files = await Promise.all(others.slice(1).map((one) => exported(one)));
  for (const { status, response } of files)
    expect([status, (await readExport(response)).complete]).toEqual([200, true]);
});

test('ten accounts have an export each that no other can take, and four at most', async () => {
  const { headers, release } = await service.hold(isLaterPage);
  const started: IncomingMessage[] = [];
  const start = async (surveys: TestSurvey[]) => {
    for (const survey of surveys) {
      const { status, response } = await exported(survey, headers);
      expect(status).toBe(200);
      started.push(response);
    }
  };
  const refusalOf = async ({ name, account }: TestSurvey) => {
    const {
      status,
      headers: received,
      text,
    } = await fetchApi(`/responses/csv${query({ survey: name })}`, account);
    return [status, received.get('X-Error-Code'), received.get('Retry-After'), text];
  };
  await start(greedy.slice(0, 4));
  const message =
    'This account already has 4 exports running. Try again when one of them has ended.';
  expect(await refusalOf(withKey(4))).toEqual([429, 'rate_limited', '10', errorBody(message)]);
  await start(times(4, () => other));
  await start(others.slice(1, 9));
  expect(await refusalOf(last)).toEqual([503, 'overloaded', '5', expect.any(String)]);
  release();
  for (const response of started) expect((await readExport(response)).complete).toBe(true);
});

test('the limited keys of an account have exports of their own', async () => {
  const { headers, release } = await service.hold(isLaterPage);
  const survey = withKey(0);
  const partner = { ...survey, account: { ...survey.account, key: generateLimitedApiKey() } };
  await storeKey(survey.account.id, partner.account.key, { limits: { v: 1 } });
  const started = await Promise.all(
    [...greedy.slice(0, 4), partner].map((one) => exported(one, headers)),
  );
  expect(started.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  release();
  for (const { response } of started) expect((await readExport(response)).complete).toBe(true);
});

test.each<[what: string, running: number, applies: (exchange: Exchange) => boolean, send: Send]>([
  ['exports', 4, isPage, exported],
  ['counts', 2, isCount, count],
  ['digests', 2, isDigests, digests],
])(
  'of many %s of an account, %i run and four wait; the others get 429 at once',
  async (_, most, applies, send) => {
    const { headers, held, release } = await service.hold(applies);
    const first = times(most, (i) => send(withKey(i), headers));
    await expect.poll(held).toBeGreaterThanOrEqual(most);
    const statuses: number[] = [];
    const further = times(8, (i) =>
      send(withKey(i), headers).then(({ status }) => statuses.push(status)),
    );
    const beside = page({ pageSize: 1 })(other);
    await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(4);
    expect([...statuses, (await beside).status]).toEqual([429, 429, 429, 429, 200]);

    release();
    const read = async (sent: Promise<{ status: number; response?: IncomingMessage }>) => {
      const { status, response } = await sent;
      if (response) await readExport(response); // makes room for the next
      return status;
    };
    expect(await Promise.all(first.map(read))).toEqual(times(most, () => 200));
    await Promise.all(further);
    expect(statuses.slice(4)).toEqual([200, 200, 200, 200]);
  },
);

test('the scans of an account take no turns from its pages, lists and files, whoever else requests pages', async () => {
  const { headers, held, release } = await service.hold(isCount);
  const scans = times(2, (i) => count(withKey(i), headers));
  await expect.poll(held).toBe(2);
  expect((await page({ pageSize: 1 })(other)).status).toBe(200);
  expect((await page({ pageSize: 500 })(withKey(2))).status).toBe(200);
  expect((await fetchApi('/surveys', accountOf(3))).status).toBe(200);
  expect((await readExport((await exported(withKey(4))).response)).complete).toBe(true);
  release();
  for (const { status } of await Promise.all(scans)) expect(status).toBe(200);
});

test('the codebook of a workbook is held, and counted, while the workbook is sent', async () => {
  const survey = await createQuestions('x'.repeat(130));
  /**
   * Starts as many workbooks as an account can have. @returns the status of another codebook
   * meanwhile
   */
  const statusBeside = async (codebook: boolean) => {
    const { headers, release } = await service.hold(isLaterPage);
    const path = `/responses/xlsx${query({ survey: survey.name, codebook: String(codebook) })}`;
    const workbooks = await Promise.all(times(4, (i) => begin(path, accountOf(i).key, headers)));
    const codebookBeside = await begin(
      `/responses/questions${query({ survey: survey.name })}`,
      accountOf(0).key,
    );
    release();
    for (const response of [...workbooks, codebookBeside]) await readExport(response);
    return codebookBeside.statusCode;
  };
  // Five of some 5 MiB each are more than the 27 MiB that an account can have.
  expect(await statusBeside(true)).toBe(429);
  expect(await statusBeside(false)).toBe(200);
});

describe('exports that are not read', () => {
  test('hold nothing: HEAD requests, those that failed, and those whose clients have left', async () => {
    const { name, account } = bulk;
    const { key } = account;
    const path = `/responses/csv${query({ survey: name })}`;
    for (let i = 0; i < 5; i++)
      expect((await fetchApi(path, { key, method: 'HEAD' })).status).toBe(200);
    service.proxy.inject((exchange) => {
      if (exchange.query.includes('question_text'))
        exchange.reply(400, '{"message":"no","code":"42P01"}');
    });
    for (let i = 0; i < 5; i++) expect((await fetchApi(path, { key })).status).toBe(500);
    service.proxy.inject();
    await Promise.all(
      times(100, (i) => open(path, { key, signal: AbortSignal.timeout(i) }).catch(() => {})),
    );
    // The runtime notices only after some time that they have left.
    const statuses = async () => {
      const begun = await Promise.all(times(4, () => exported(bulk)));
      for (const { response } of begun) response.socket.resetAndDestroy();
      return begun.map(({ status }) => status);
    };
    await expect.poll(statuses, { interval: 500 }).toEqual([200, 200, 200, 200]);
  });

  test('read two pages at a time alone; others of the account wait for them, and those of another account read one', async () => {
    const { headers, held } = await service.hold(isLaterPage);
    for (const [i, pages] of [2, 2, 3, 3].entries()) {
      await exported(i < 2 ? bulk : other, headers);
      await expect.poll(held).toBe(pages);
      await sleep(300);
      expect(held()).toBe(pages);
    }
  });

  test('release what they have read ahead, and read it again', async () => {
    const { status, response } = await exported(bulk);
    expect(status).toBe(200);
    const large = await createSurvey(other.account);
    await addResponses(large, [{ response: 'x'.repeat(8_500_000) }]);
    // with the pages ahead, there would be no memory for it
    expect((await page({})(large)).status).toBe(200);
    const { complete, bytes } = await readExport(response);
    expect({ complete, same: bytes.equals(await copyResponses(bulk)) }).toEqual({
      complete: true,
      same: true,
    });
  });

  test('are aborted after 5 minutes, and pages after 10 seconds', async () => {
    const { name } = await largeAnswers();
    const failures = () => eventsIn(service.stack.worker, 'export failed').length;
    const before = failures();
    const jsonPage = await begin(
      `/responses${query({ survey: name, pageSize: 5461 })}`,
      accountOf(0).key,
    );
    const { status, response } = await exported(bulk);
    expect(status).toBe(200);
    await expect.poll(failures, { interval: 500 }).toBe(before + 1);
    expect((await readExport(jsonPage)).complete).toBe(false);
    await forward(4.5 * MINUTE);
    await sleep(3000);
    expect(failures()).toBe(before + 1);
    await forward(5 * MINUTE);
    await expect.poll(failures).toBe(before + 2);
    const { complete, bytes } = await readExport(response);
    expect(complete).toBe(false);
    expect((await copyResponses(bulk)).subarray(0, bytes.length).equals(bytes)).toBe(true);
  });
});

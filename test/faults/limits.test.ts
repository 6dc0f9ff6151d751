import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { ACCOUNTS, KINDS } from '../../src/limits/slots.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
  storeKey,
  storeSurvey,
} from '../support/data.ts';
import { open, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { eventsIn } from '../support/request-log.ts';
import {
  forward,
  isLaterPage,
  isPage,
  leave,
  limitOf,
  startFaultyService,
  withoutRetries,
} from './service.ts';

const service = await startFaultyService();

const KEYS = 5;
const MINUTE = 60_000;

/** Creates a survey of a new account, with more responses than an export's first page. */
const createOne = async () => createBulkSurvey(await createAccount(), { rows: 600, forms: 2 });
/** Surveys of several accounts. */
const others = await Promise.all(times(ACCOUNTS + 1, createOne));
const [other, another] = [others[0], others[1]] as [TestSurvey, TestSurvey];
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
for (const { account } of [...greedy, ...others, bulk]) await fetchApi('/key', account);

async function withKeys({ account, ...survey }: TestSurvey): Promise<TestSurvey[]> {
  const keys = times(KEYS, generateApiKey);
  for (const key of keys) await storeKey(account.id, key);
  return keys.map((key) => Object.assign({}, survey, { account: { ...account, key } }));
}

/** The greedy account, with each of its keys in turn. */
const withKey = (i: number) => greedy[i % KEYS] as TestSurvey;

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
const fetchOf =
  (path: string, parameters: Record<string, string | number> = {}) =>
  ({ name, account: { key } }: TestSurvey, headers: Headers = {}) =>
    fetchApi(path + query({ survey: name, ...parameters }), { key, headers });
const page = (parameters: Record<string, string | number> = {}) =>
  fetchOf('/responses', { pageSize: 1, ...parameters });
const count = page({ count: 'true' });
const filtered = page({ question_ref: 'question_3' });
const digests = fetchOf('/responses/digests');

const isCount = ({ query: text }: Exchange) => text.includes('select count(*) from responses');
const isDigests = ({ query: text }: Exchange) => text.includes('md5(');

/** Recognises queries about an account’s survey. */
const isOf = ({ account, forms }: TestSurvey, { params }: Exchange) =>
  [params].flat(2).some((param) => param === account.id || forms.some(({ id }) => id === param));

function times<T>(length: number, make: (i: number) => T): T[] {
  return Array.from({ length }, (_, i) => make(i));
}

const statusesOf = async (sent: readonly Promise<Sent>[]) =>
  (await Promise.all(sent)).map(({ status }) => status);

/** Small requests of each kind. */
const small: Send[] = [fetchOf('/key'), fetchOf('/surveys'), page(), count, filtered, digests];

test('ten accounts have an export each that no other can take, and four at most, with the limited keys of an account as another; others have what is left', async () => {
  const { headers, release } = await service.hold(isLaterPage);
  const started: IncomingMessage[] = [];
  const start = async (...surveys: TestSurvey[]) => {
    for (const survey of surveys) {
      const { status, response } = await exported(survey, headers);
      expect(status).toBe(200);
      started.push(response);
    }
  };
  const refusalOf = async (survey: TestSurvey) => {
    const { status, headers: received, text } = await fetchOf('/responses/csv')(survey);
    return [status, received.get('X-Error-Code'), received.get('Retry-After'), text];
  };
  const limited = { ...withKey(0).account, key: generateLimitedApiKey() };
  await storeKey(limited.id, limited.key, { limits: { v: 1 } });
  await start(...greedy.slice(0, 4), ...times(4, () => other), another, another);
  const message = (exports: number) =>
    `This account already has ${exports} exports running. Try again when one of them has ended.`;
  const refusals = [withKey(4), other, another].map(refusalOf);
  expect(await Promise.all(refusals)).toEqual([
    [429, 'rate_limited', '10', errorBody(message(4))],
    [429, 'rate_limited', '10', errorBody(message(4))],
    [429, 'rate_limited', '10', errorBody(message(2))],
  ]);
  await start({ ...withKey(0), account: limited }, ...others.slice(3, 9));
  const last = others.slice(9);
  const overloaded = [503, 'overloaded', '5', expect.any(String)];
  expect(await Promise.all(last.map(refusalOf))).toEqual([overloaded, overloaded]);
  const waiting = last.map((survey) => exported(survey));
  release();
  for (const response of started) expect((await readExport(response)).complete).toBe(true);
  for (const { status, response } of await Promise.all(waiting))
    expect([status, (await readExport(response)).complete]).toEqual([200, true]);
});

test('an account has 48 requests at a time, and further ones get 429', async () => {
  const { headers, release } = await service.hold(
    (exchange) => isCount(exchange) || isPage(exchange),
  );
  const counts = times(34, () => count(withKey(0), headers));
  const pages = times(14, () => page()(withKey(0), headers));
  const refused = async () => (await fetchOf('/key')(withKey(1))).text;
  const message =
    'This account already has 48 requests running. Try again when one of them has ended.';
  await expect.poll(refused).toBe(errorBody(message));
  expect((await fetchOf('/key')(other)).status).toBe(200);
  release();
  expect(new Set(await statusesOf([...counts, ...pages]))).toEqual(new Set([200]));
});

test('an account’s files, counts and scans delay none of its other requests, although others take all that is shared', async () => {
  const files = await Promise.all(times(4, () => exported(bulk)));
  expect(files.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { headers, held } = await service.hold(
    (exchange) => isPage(exchange) || isCount(exchange) || isDigests(exchange),
  );
  // what two accounts can take of each kind is all that is shared
  const taking = [withKey(0), other].flatMap((survey) =>
    [
      times(KINDS.quick.most, () => page()(survey, headers)),
      times(KINDS.walk.most, () => filtered(survey, headers)),
      times(KINDS.scan.most, () => digests(survey, headers)),
    ].flat(),
  );
  await expect.poll(held).toBeGreaterThanOrEqual(taking.length);
  expect(await statusesOf(small.map((send) => send(bulk)))).toEqual(small.map(() => 200));

  void count(bulk, headers);
  void digests(bulk, headers);
  await expect.poll(held).toBeGreaterThanOrEqual(taking.length + 2);
  for (const send of [fetchOf('/key'), fetchOf('/surveys'), page()])
    expect((await send(bulk)).status).toBe(200);
});

test('while a large response is sent, another page is sent in parts, and what cannot be gets 503', async () => {
  const codebook = await storeSurvey(
    times(3000, (i) => ({ question_ref: `q${i}`, question_text: 'x'.repeat(300) })),
    { account: another.account },
  );
  const { headers, held, release } = await service.hold(isPage);
  const large = page({ pageSize: 1000 })(other, headers);
  await expect.poll(held).toBe(1);
  const parts = page({ pageSize: 1000 })(bulk);
  const refused = await fetchOf('/responses/questions')(codebook);
  expect([refused.status, refused.headers.get('X-Error-Code')]).toEqual([503, 'overloaded']);
  const { status, headers: received, text } = await parts;
  const { responses } = JSON.parse(text) as { responses: unknown[] };
  expect([status, received.get('ETag'), responses.length]).toEqual([200, null, 1000]);
  expect(received.get('Link')).not.toBeNull();
  release();
  expect((await large).headers.get('ETag')).not.toBeNull();
  expect((await fetchOf('/responses/questions')(codebook)).status).toBe(200);
});

test('a workbook is sent without a slot for its codebook', async () => {
  const survey = await storeSurvey(
    times(3000, (i) => ({ question_ref: `q${i}`, question_text: 'x'.repeat(300) })),
    { account: withKey(0).account },
  );
  const { headers, held } = await service.hold(isLaterPage);
  const path = `/responses/xlsx${query({ survey: survey.name, codebook: 'true' })}`;
  for (let i = 0; i < 4; i++)
    expect((await begin(path, withKey(i).account.key, headers)).statusCode).toBe(200);
  await expect.poll(held).toBeGreaterThanOrEqual(4);
  expect((await fetchOf('/responses/questions')(survey)).status).toBe(200);
});

test('who is refused beside a query that is retried gets 503', async () => {
  service.proxy.inject((exchange) => {
    if (isDigests(exchange)) exchange.reset();
  });
  const { most, waiting } = KINDS.scan;
  const sent = times(most + waiting, (i) => digests(withKey(i)));
  // the pauses between attempts have become long
  await expect.poll(() => service.proxy.requests).toBeGreaterThan(5 * most);
  const { status, headers } = await digests(withKey(0));
  expect([status, headers.get('X-Error-Code')]).toEqual([503, 'database_unavailable']);
  expect(await withoutRetries(statusesOf(sent))).toEqual(sent.map(() => 503));
});

test('the statuses and SQL requests of a limited key are the same with rows that it cannot see', async () => {
  const create = async (rows: number): Promise<TestSurvey> => {
    const columns = { question_ref: `'hidden'` };
    const survey = await createBulkSurvey(await createAccount(), { rows, forms: 1, columns });
    const seen = { question_ref: 'seen', timestamp: '2026-06-01T00:00:00Z' };
    await addResponses(
      survey,
      times(40, (i) => ({ ...seen, userid: `u${i}` })),
    );
    const account = { ...survey.account, key: generateLimitedApiKey() };
    await storeKey(account.id, account.key, { limits: { v: 1, without_questions: ['hidden'] } });
    return { ...survey, account };
  };
  const read = async (survey: TestSurvey, parameters: Record<string, string>) => {
    const send = page({ pageSize: 25, ...parameters });
    await send(survey); // the form versions are known then

    const { headers, held, release } = await service.hold(isPage);
    const sent = times(12, () => send(survey, headers));
    await expect.poll(held).toBe(KINDS.walk.most);
    await sleep(300);
    const atOnce = held();
    release();
    return { statuses: await statusesOf(sent), atOnce, requests: held() };
  };
  const [withoutHidden, withHidden] = [await create(0), await create(20_000)];
  for (const parameters of [{}, { question_ref: 'seen' }, { count: 'true' }]) {
    const without = await read(withoutHidden, parameters);
    expect(without).toMatchObject({ statuses: times(12, () => 200), atOnce: KINDS.walk.most });
    expect(await read(withHidden, parameters)).toEqual(without);
  }
});

test('clients that leave at once have no more queries running than those that stay', async () => {
  let [inFlight, most, sent] = [0, 0, 0];
  service.proxy.inject(async (exchange) => {
    if (!isOf(withKey(0), exchange)) return;
    sent++;
    most = Math.max(most, ++inFlight);
    void exchange.closed.then(() => inFlight--);
    await sleep(50);
  });
  const paths = [`/responses${query({ survey: withKey(0).name })}`, '/surveys'];
  const statuses = new Set<number>();
  for (let round = 0; round < 20; round++) {
    const leaving = times(30, (i) =>
      leave(paths[i % 2] as string, withKey(i).account.key, () => sleep(i)),
    );
    statuses.add((await page()(other)).status);
    await Promise.all(leaving);
  }
  expect([most, statuses]).toEqual([KINDS.quick.most, new Set([200])]);
  expect(sent).toBeGreaterThan(20);
});

/** Takes all slots that an account can have, and releases them. @throws unless they are free */
async function expectAllFree(survey: TestSurvey): Promise<void> {
  const limits = new Set<number>();
  const { headers, held, release } = await service.hold((exchange) => {
    if (isPage(exchange)) limits.add(limitOf(exchange));
    return isPage(exchange) && limitOf(exchange) < 500;
  });
  const scans = await service.hold((exchange) => isCount(exchange) || isDigests(exchange));
  const { file, walk, scan, quick } = KINDS;
  let files: IncomingMessage[] = [];
  // The runtime notices only after some time that a client has left.
  const beginFiles = async () => {
    for (const { socket } of files) socket.resetAndDestroy();
    const begun = await Promise.all(times(file.most, () => exported(survey)));
    files = begun.map(({ response }) => response);
    return begun.map(({ status }) => status);
  };
  await expect.poll(beginFiles, { interval: 500 }).toEqual(times(file.most, () => 200));
  const sent = [
    ...times(walk.most, () => count(survey, scans.headers)),
    ...times(scan.most, () => digests(survey, scans.headers)),
    ...times(quick.most, (i) => page({ pageSize: 1 + i })(survey, headers)),
  ];
  await expect.poll(scans.held).toBe(walk.most + scan.most);
  await expect.poll(() => limits.size).toBe(quick.most);
  expect(held()).toBeGreaterThanOrEqual(quick.most);
  release();
  scans.release();
  for (const { socket } of files) socket.resetAndDestroy();
  expect(new Set(await statusesOf(sent))).toEqual(new Set([200]));
  expect((await page({ pageSize: 1000 })(survey)).headers.get('ETag')).not.toBeNull();
}

test('nothing is held for clients that left, by HEAD requests, and by exports that failed', async () => {
  const paths = [
    ['/responses/csv', {}] as const,
    ['/responses', { pageSize: 400 }] as const,
    ['/responses', { pageSize: 1000 }] as const,
    ['/responses', { question_ref: 'question_3' }] as const,
    ['/responses', { count: 'true' }] as const,
    ['/responses/digests', {}] as const,
  ].map(([path, parameters]) => path + query({ survey: bulk.name, ...parameters }));
  const { key } = bulk.account;

  // until their first query has a result, while a result arrives and others wait, while they are
  // retried, and at any time
  const faults: ((exchange: Exchange) => void)[] = [
    (exchange) => exchange.hang(),
    (exchange) => exchange.cutAfter((body) => body.length / 2, new Promise(() => {})),
    (exchange) => exchange.reset(),
    () => {},
  ];
  for (const fault of faults) {
    service.proxy.inject((exchange) => {
      if (isOf(bulk, exchange)) fault(exchange);
    });
    await Promise.all(
      times(36, (i) => leave(paths[i % paths.length] as string, key, () => sleep(8 * (i + 1)))),
    );
    await sleep(2500); // slots are kept for 2 s after a query was aborted
  }

  // while they were sent something
  service.proxy.inject();
  for (const path of [...paths.slice(0, 3), ...paths.slice(0, 1)])
    expect((await begin(path, key)).statusCode).toBe(200);
  for (const { socket } of running.splice(0)) socket.resetAndDestroy();
  await sleep(2500);

  const [path = ''] = paths;
  for (let i = 0; i < 5; i++)
    expect((await fetchApi(path, { key, method: 'HEAD' })).status).toBe(200);
  service.proxy.inject((exchange) => {
    if (isPage(exchange)) exchange.reply(400, '{"message":"no","code":"42P01"}');
  });
  for (let i = 0; i < 5; i++) expect((await fetchApi(path, { key })).status).toBe(500);
  service.proxy.inject();
  await expectAllFree(bulk);
});

describe('exports that are not read', () => {
  test('read ahead in slots that others do not need, give them back, and read the pages again', async () => {
    const ahead = await service.hold(isLaterPage);
    // Those of other tests may still run, beside which fewer pages are read ahead.
    let response!: IncomingMessage;
    const pagesHeld = async () => {
      response?.socket.resetAndDestroy();
      const before = ahead.held();
      ({ response } = await exported(bulk, ahead.headers));
      await sleep(500);
      return ahead.held() - before;
    };
    await expect.poll(pagesHeld, { interval: 1000 }).toBeGreaterThanOrEqual(2);
    service.proxy.inject(); // counts those that are abandoned

    const { headers, release } = await service.hold(isLaterPage);
    const { own, shared } = KINDS.file;
    const shares = [...times(4, () => other), another, another];
    const surveys = [...greedy.slice(0, 4), ...shares, ...others.slice(2, 8)];
    expect(surveys.length + 1).toBe(ACCOUNTS * own + shared);
    for (const survey of surveys) expect((await exported(survey, headers)).status).toBe(200);
    await expect.poll(() => service.proxy.abandoned).toBeGreaterThanOrEqual(1);

    release();
    ahead.release();
    const { complete, bytes } = await readExport(response);
    expect({ complete, same: bytes.equals(await copyResponses(bulk)) }).toEqual({
      complete: true,
      same: true,
    });
  });

  test('are aborted after 5 minutes, and pages after 10 seconds', async () => {
    const failures = () => eventsIn(service.stack.worker, 'export failed').length;
    const before = failures();
    const path = `/responses${query({ survey: bulk.name, pageSize: 5000 })}`;
    const jsonPage = await begin(path, bulk.account.key);
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

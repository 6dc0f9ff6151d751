import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { type IssuedKey, issueKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { IssuedKeys } from '../../tools/verify/issued-keys.ts';
import { runChecks, summaryOf } from '../../tools/verify/run-checks.ts';
import { Subject, type VerifyOptions } from '../../tools/verify/subject.ts';
import { CHECKS, verify } from '../../tools/verify/verify.ts';
import { query } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTool } from '../support/run-tool.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type Exchange, type Fault, type Proxy, startProxy } from './verify-proxy.ts';

const SURVEY = 'Health & Habits – Saúde';
const EMAIL = 'verify@example.org';
const OTHER_EMAIL = 'other@example.org';
const THIRD_EMAIL = 'third@example.org';
/** The responses to the large survey of each of the other accounts. */
const LARGE = 11_000;

let stack: Stack;
/** Between the Worker and its database. */
let database: FaultProxy;
let origin: string;
let databaseUrl: string;
let key: string;
let otherKey: string;
let thirdKey: string;
let proxy: Proxy;

beforeAll(async () => {
  stack = await startStack({ startProxy: async (endpoint) => (database = await startFaultProxy(endpoint)).url });
  ({ origin, databaseUrl } = stack.address);
  await storeSurveys();
  ({ key } = await issueKey(databaseUrl, { email: EMAIL, name: 'key' }));
  ({ key: otherKey } = await issueKey(databaseUrl, { email: OTHER_EMAIL, name: 'key' }));
  ({ key: thirdKey } = await issueKey(databaseUrl, { email: THIRD_EMAIL, name: 'key' }));
  proxy = await startProxy(origin);
});
afterAll(async () => {
  await proxy?.close();
  await database?.close();
  await stack?.stop();
});

/** Stores a survey of two form versions, one without responses, one that two other accounts have, and for each account one that sockets cannot hold. */
async function storeSurveys(): Promise<void> {
  await query(databaseUrl, `insert into users (email) values ($1), ($2), ($3)`, [EMAIL, OTHER_EMAIL, THIRD_EMAIL]);
  await query(
    databaseUrl,
    `insert into surveys (userid, survey_name, shortcode, title, formid)
     select id, name, 'form', 'Title', 'form' from users, unnest(array[$1, $1, 'large', 'empty']) name where email = $2
     union all select id, name, 'form', 'Title', 'form' from users, unnest(array['foreign', 'large']) name where email in ($3, $4)`,
    [SURVEY, EMAIL, OTHER_EMAIL, THIRD_EMAIL],
  );
  const insert = `
    insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, question_text,
      response, timestamp, metadata)`;
  await query(
    databaseUrl,
    `${insert}
     select '', (array_agg(id))[1 + i % count(*)], 'form', i % 40, 'user ' || i % 40, (array['consent', 'health', 'age'])[1 + i % 3], i % 3,
       'Do you want to take part, or not?', case i % 4 when 0 then '"' || i || E'"\\r\\n–' when 1 then '' else 'Ndiyo' end,
       '2026-03-01Z'::timestamptz + i / 2 * interval '2 h 1.000047 s', case when i % 5 > 0 then '{"platform": "web", "page": 12345678901234567890}'::jsonb end
     from generate_series(1, 601) i, surveys where survey_name in ($1, 'foreign') group by i, survey_name`,
    [SURVEY],
  );
  // The responses of the other accounts are fewer and longer, which takes less time to store.
  await query(
    databaseUrl,
    `${insert}
     select '', surveys.id, 'form', i, 'user ' || i, 'question', 1, 'Question',
       (select string_agg(encode(sha512((i || '-' || j)::bytea), 'base64'), '') from generate_series(1, texts) j),
       '2026-03-01Z'::timestamptz + i * interval '1 s', null
     from surveys join users on users.id = userid
       cross join lateral (select case when email = $1 then 110000 else ${LARGE} end as rows, case when email = $1 then 4 else 40 end as texts) size
       cross join lateral generate_series(1, rows) i
     where survey_name = 'large'`,
    [EMAIL],
  );
}

/** The results of some of the statements. */
const only = (names: readonly string[], url: string, options: VerifyOptions) =>
  runChecks(
    CHECKS.filter(({ name }) => names.includes(name)),
    new Subject(url, options),
    options,
  );

const ACCEPTED = 'the key is accepted';
const COUNTED = "the account's surveys are listed and counted";
const ABORTS = ['over HTTP/1.1', 'over HTTP/2', 'with gzip'].map((how) => `an aborted transfer is visible ${how}`);
const REVOKED = 'a revoked key is refused within 5 minutes';
const CSV = 'the CSV file has as many responses as were counted';
const GZIP = ['with gzip, the CSV file has the same bytes', 'four simultaneous exports have the same bytes'];
const SCOPING = "neither key sees the other account's surveys";
const COUNTS = 'summary and codebook count the same responses';

/** Keys that the service refuses at once when they are revoked, so that the test does not wait for its cache. */
class UncachedKeys extends IssuedKeys {
  override async revoke(issued: IssuedKey): Promise<void> {
    await super.revoke(issued);
    await stack.worker.keys.delete(await hashApiKey(issued.key));
  }
}

/** These wait for a key to expire. */
describe.concurrent('with keys that expire or are revoked', () => {
  async function onlyWithKeys(names: readonly string[], fault: Fault, keys: Pick<VerifyOptions, 'key' | 'otherKey'>) {
    await using ownProxy = await startProxy(origin);
    ownProxy.inject(fault);
    await using issuedKeys = new UncachedKeys(databaseUrl);
    return await only(names, ownProxy.origin, { ...keys, issuedKeys, revocationMs: 2_000 });
  }

  test('everything holds for the service', async () => {
    const names = CHECKS.map(({ name }) => name);
    const results = await onlyWithKeys(names, {}, { key, otherKey });
    expect(results.map(({ name, outcome }) => [name, outcome])).toEqual(names.map((name) => [name, 'holds']));
  });

  test.each([
    ['like complete ones', OTHER_EMAIL, Buffer.alloc(0)],
    ['with what is not gzip', THIRD_EMAIL, randomBytes(256 * 1024)],
  ])('aborted transfers that end %s fail, and so does a revoked key that is accepted', async (_, email, end) => {
    const accepted = email === OTHER_EMAIL ? otherKey : thirdKey;
    const fault: Fault = {
      endOfBroken: end,
      onRequest({ url, headers, method }) {
        if (method === 'HEAD' && url.pathname.endsWith('/key')) headers['authorization'] = `Bearer ${accepted}`;
      },
    };
    const results = await onlyWithKeys([ACCEPTED, COUNTED, ...ABORTS, REVOKED], fault, { key: accepted });
    const failing = results.filter(({ outcome }) => outcome === 'FAILS');
    expect(failing.map(({ name }) => name)).toEqual([...ABORTS, REVOKED]);
    for (const { name, details } of failing)
      expect(details).toMatch(
        name === REVOKED
          ? /^HEAD \/api\/v1\/key: status 200 \d+ s after the key was revoked$/
          : /^an aborted transfer ended like a complete one, after \d+ of 11000 responses$/,
      );
    const issued = (await listKeys(databaseUrl, email)).filter((one) => one.name === 'npm run verify');
    expect(issued.map(({ revoked }) => revoked === null)).toEqual([false, false]);
  });
});

test('without a key, what needs one is not tested', async () => {
  proxy.inject({});
  expect(summaryOf(await verify(proxy.origin))).toBe(`holds: 2, not tested: ${CHECKS.length - 2}`);
});

test('the placement is named, and a database that is far from it', async () => {
  proxy.inject(inHeaders((headers) => (headers['cf-placement'] = 'remote-FRA')));
  database.inject(({ query: text }) => (text.includes('translation_conf') ? sleep(500) : undefined)); // the list of surveys
  const names = [ACCEPTED, 'placement and round trips are measured'];
  const [, placement] = await only(names, proxy.origin, { key });
  database.inject();
  expect(placement).toMatchObject({
    outcome: 'holds',
    details: expect.stringMatching(
      /^remote-FRA; [\d,]+ ms without a query, [\d,]+ ms with one\nthe Worker is far from its database: see "Placement" in docs\/deploy\.md$/,
    ) as string,
  });
});

test('a database that wakes up is waited for, and named', async () => {
  let isAwake = false;
  proxy.inject({
    onResponse(exchange) {
      if (exchange.method !== 'GET' || isAwake) return;
      isAwake = true;
      exchange.status = 503;
      exchange.headers['x-error-code'] = 'database_unavailable';
    },
  });
  const [health] = await verify(proxy.origin);
  expect(health).toMatchObject({
    outcome: 'holds',
    details: expect.stringMatching(
      /^after [\d,]+ ms, then [\d,]+ ms: a cold start, or a suspended database$/,
    ) as string,
  });
});

const isFile = ({ url, method, status }: Exchange, path: string) =>
  method === 'GET' && status === 200 && url.pathname.endsWith(`/responses/${path}`);
const isZipped = ({ headers }: Exchange) => headers['content-encoding'] === 'gzip';
const isWholeCsv = (exchange: Exchange) =>
  isFile(exchange, 'csv') && !isZipped(exchange) && !exchange.url.searchParams.has('after');

/** Changes the text of a body. */
function edit(exchange: Exchange, how: (text: string) => string): void {
  const text = how((isZipped(exchange) ? gunzipSync(exchange.body) : exchange.body).toString());
  exchange.body = isZipped(exchange) ? gzipSync(text) : Buffer.from(text);
}

/** Changes the text of a file. */
const inFile = (path: string, how: (text: string) => string): Fault => ({
  onResponse(exchange) {
    if (isFile(exchange, path)) edit(exchange, how);
  },
});

const inWholeCsv = (onResponse: (exchange: Exchange) => void): Fault => ({
  onResponse(exchange) {
    if (isWholeCsv(exchange)) onResponse(exchange);
  },
});

/** Changes the headers of every response. */
const inHeaders = (how: (headers: Exchange['headers'], exchange: Exchange) => void): Fault => ({
  onResponse: (exchange) => how(exchange.headers, exchange),
});

/** Sends requests for the other account's survey with its own key. */
const foreignRows = (path: string): Fault => ({
  onRequest({ url, headers }) {
    const isForeign = url.pathname.endsWith(path) && url.searchParams.get('survey') === 'foreign';
    if (isForeign) headers['authorization'] = `Bearer ${otherKey}`;
  },
});

/** A fault, the statements that fail because of it, and what the first of them prints. */
type Case = readonly [what: string, fault: Fault, names: readonly string[], details: RegExp];

const faults: readonly Case[] = [
  [
    'a /healthz that fails',
    {
      onResponse(exchange) {
        if (exchange.url.pathname === '/healthz' && exchange.method === 'GET') exchange.status = 500;
      },
    },
    ['the service reaches its database'],
    /^\/healthz: status: 500, expected 200$/,
  ],
  [
    'an address that redirects',
    {
      onResponse(exchange) {
        if (exchange.url.pathname !== '/healthz') return;
        exchange.status = 301;
        exchange.headers['location'] = 'https://export.example.org/healthz';
      },
    },
    ['the service reaches its database'],
    /^\/healthz redirects to https:\/\/export\.example\.org\/healthz: is --url the final address\?$/,
  ],
  [
    'a challenge of Cloudflare',
    {
      onResponse(exchange) {
        if (exchange.status !== 401) return;
        exchange.status = 403;
        exchange.headers['content-type'] = 'text/html; charset=UTF-8';
      },
    },
    ['without a valid key, the status is 401'],
    /status 403 with text\/html; .* is not from the service\. If Cloudflare challenges programs, turn off Bot Fight Mode/,
  ],
  [
    'an error without its code',
    inHeaders((headers, { status }) => {
      if (status === 401) delete headers['x-error-code'];
    }),
    ['without a valid key, the status is 401'],
    /^\/api\/v1\/surveys: status: 401, expected 401 invalid_token$/,
  ],
  [
    'a path with // that is redirected',
    {
      onResponse(exchange) {
        if (exchange.url.pathname.includes('//')) exchange.status = 308;
      },
    },
    [ACCEPTED],
    /^\/api\/v1\/\/key: status: 308, expected 200$/,
  ],
  [
    'a page with foreign rows',
    foreignRows('/responses'),
    [SCOPING],
    /^\/api\/v1\/responses: status: 200, expected 500 no_resp/,
  ],
  [
    'a file with foreign rows',
    foreignRows('/csv'),
    [SCOPING],
    /^\/api\/v1\/responses\/csv: status: 200, expected 500 no_resp/,
  ],
  [
    'a list with a foreign survey',
    {
      onRequest({ url, headers }) {
        if (url.pathname.endsWith('/surveys') && headers['authorization'] === `Bearer ${otherKey}`)
          headers['authorization'] = `Bearer ${key}`;
      },
    },
    [SCOPING],
    /^both keys list ".*"$/,
  ],
  [
    'a wrong X-Total-Count',
    inHeaders((headers) => {
      const total = headers['x-total-count'];
      if (total !== undefined) headers['x-total-count'] = String(Number(total) + 1);
    }),
    [CSV],
    /^the CSV file: 601 responses, but 602 were counted$/,
  ],
  [
    'no X-Total-Count',
    inHeaders((headers) => delete headers['x-total-count']),
    [COUNTED],
    /^X-Total-Count is "missing"$/,
  ],
  [
    'a CSV file that ends after a record',
    inFile('csv', (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)),
    [CSV],
    /^the CSV file: 600 responses, but 601 were counted$/,
  ],
  [
    'a CSV file that ends within a record',
    inWholeCsv((exchange) => (exchange.body = exchange.body.subarray(0, -20))),
    [CSV],
    /^the CSV file: 600 responses, but 601 were counted$/,
  ],
  [
    'a CSV file with a response to a foreign survey',
    inWholeCsv((exchange) => edit(exchange, (text) => text.replace(/\n,"",[\da-f-]{36},/, `\n,"",${randomUUID()},`))),
    [CSV],
    /^record 1 of the CSV file is of the unknown form version [\da-f-]{36}$/,
  ],
  [
    'a CSV file whose transfer breaks off',
    inWholeCsv((exchange) => (exchange.breakAfter = 50_000)),
    [CSV],
    /^terminated: /,
  ],
  ...(
    [
      ['answer', '"Ndiyo"', '"Hapana"'],
      ['index', '"question_idx":"1"', '"question_idx":"2"'],
      ['question', 'take part, or not?', 'take part?'],
      ['form', '"shortcode":"form"', '"shortcode":"other"'],
      ['metadata', '"platform": "web"', '"platform": "app"'],
      ['page, where there is none', '"pageid":null', '"pageid":""'],
    ] as const
  ).map(
    ([what, from, to]) =>
      [
        `an NDJSON file with another ${what}`,
        inFile('ndjson', (text) => text.replace(from, to)),
        ['the NDJSON file has the same responses'],
        /^the responses of the NDJSON file are not those of the CSV file$/,
      ] as const,
  ),
  [
    'no gzip',
    {
      onRequest({ headers }) {
        delete headers['accept-encoding'];
      },
    },
    GZIP,
    /^Content-Encoding: null, expected "gzip"$/,
  ],
  [
    'a gzip file that cannot be decompressed',
    {
      onResponse(exchange) {
        if (isFile(exchange, 'csv') && isZipped(exchange))
          exchange.body = Buffer.from(exchange.body).fill(0, 1_000, 1_100);
      },
    },
    GZIP,
    /^terminated: /,
  ],
  [
    'a gzip file with another answer',
    {
      onResponse(exchange) {
        if (isFile(exchange, 'csv') && isZipped(exchange)) edit(exchange, (text) => text.replace('Ndiyo', 'Hapana'));
      },
    },
    GZIP,
    /^the bytes with gzip are not those without$/,
  ],
  [
    'a resumed download that starts from the beginning',
    { onRequest: ({ url }) => url.searchParams.delete('after') },
    ['a CSV file resumed in the middle continues with the same bytes'],
    /^the records are not those that follow in the whole file$/,
  ],
  [
    'a workbook that is cut',
    {
      onResponse(exchange) {
        if (isFile(exchange, 'xlsx')) exchange.body = exchange.body.subarray(0, -100);
      },
    },
    ['the workbook is complete'],
    /^not a complete workbook: /,
  ],
  [
    'a workbook of fewer responses',
    {
      onRequest({ url }) {
        if (url.pathname.endsWith('/xlsx')) url.searchParams.set('question_ref', 'age');
      },
    },
    ['the workbook is complete'],
    /^the rows of the workbook: 201, expected 602$/,
  ],
  [
    'a summary of one response less',
    inFile('summary', (text) => text.replace(/"responses":601/, '"responses":600')),
    [COUNTS],
    /^the summary: 600 responses, but 601 were counted$/,
  ],
  [
    'a codebook that counts one response less',
    inFile('questions', (text) => text.replace(/"responses":201/, '"responses":200')),
    [COUNTS],
    /^the codebook: 600 responses, but 601 were counted$/,
  ],
  [
    'a digest with a wrong digit',
    inFile('digests', (text) =>
      text.replace(/("start".*?"digest":"[\da-f]*)(.)"/, (_, start, last) => `${start}${last === '0' ? 1 : 0}"`),
    ),
    ['the digests match the CSV file and the form data'],
    /^digest of 2026-03-01T00:00:00\.000Z: \{/,
  ],
];

/** Without these, most other statements are not tested. */
const BASIC = new Set([ACCEPTED, COUNTED, CSV]);

/** Faults that concern different statements are injected together. */
const rounds: Case[][] = [];
for (const one of faults) {
  const isFree = (round: readonly Case[]) =>
    !round.some(([, , names]) => names.some((name) => BASIC.has(name) || one[2].includes(name)));
  const round = one[2].some((name) => BASIC.has(name)) ? undefined : rounds.find(isFree);
  if (round) round.push(one);
  else rounds.push([one]);
}

describe.each(rounds.map((round) => ({ round })))('fails for', ({ round }) => {
  const names = round.flatMap((one) => one[2]);
  let failing: Record<string, string>;
  beforeAll(async () => {
    const injected = round.map(([, fault]) => fault);
    proxy.inject({
      onRequest: (request) => injected.forEach(({ onRequest }) => onRequest?.(request)),
      onResponse: (exchange) => injected.forEach(({ onResponse }) => onResponse?.(exchange)),
    });
    const results = await only([...BASIC, ...names], proxy.origin, { key, otherKey, surveyName: SURVEY });
    const failed = results.filter(({ outcome }) => outcome === 'FAILS');
    failing = Object.fromEntries(failed.map(({ name, details }) => [name, details]));
  });

  test.each(round)('%s', (_what, _fault, [name = ''], details) => {
    expect(failing[name]).toMatch(details);
    expect(Object.keys(failing).toSorted()).toEqual(names.toSorted());
  });
});

describe('npm run verify', () => {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    startTool('verify.ts', args, { SURVEY_EXPORT_KEY: '', SURVEY_EXPORT_KEY_2: '', ...env });

  test('prints a table, chooses a survey, and exits with 0', async () => {
    const env = { SURVEY_EXPORT_URL: `${origin}/api/v1/`, SURVEY_EXPORT_KEY: key, SURVEY_EXPORT_KEY_2: otherKey };
    const { status, stdout } = await run([], env).outcome;
    expect(status).toBe(0);
    const untested = new Set([...ABORTS, REVOKED]);
    for (const { name } of CHECKS)
      expect(stdout).toContain(`${untested.has(name) ? 'not tested' : 'holds     '}  ${name} `);
    expect(stdout).toMatch(/no cf-placement; \d+ ms without a query, \d+ ms with one$/m);
    expect(stdout).toContain(`reading the 601 responses of "${SURVEY}"`);
    expect(stdout).toMatch(/\nholds: 14, not tested: 4\.\n$/);
    expect(stdout).not.toContain(key);
  });

  test('exits with 1 when a statement fails, and prints what it found; takes --key', async () => {
    proxy.inject({});
    const { status, stdout } = await run(['--url', proxy.origin, '--key', generateApiKey()]).outcome;
    expect(status).toBe(1);
    expect(stdout).toMatch(/^FAILS {7}the key is accepted/m);
    expect(stdout).toMatch(/^ {14}the service refuses the key: is it complete, and was it issued for this service\?$/m);
    expect(stdout).toMatch(/\nholds: 2, FAILS: 1, not tested: 15\.\n$/);
  });

  test('an interruption leaves no valid key behind', async () => {
    // The key's name in earlier versions.
    const env = { SURVEY_KEY: key, DATABASE_URL: databaseUrl, DATA_DIR: `/nonexistent/${randomUUID()}` };
    const issued = async () => (await listKeys(databaseUrl, EMAIL)).filter(({ name }) => name === 'npm run verify');
    const before = (await issued()).length;
    const { child, outcome } = run(['--url', origin, '--revocation'], env);
    await expect.poll(async () => (await issued()).length).toBeGreaterThan(before);
    child.kill('SIGINT');
    const { status, stderr } = await outcome;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^interrupted$/m);
    expect((await issued()).filter(({ revoked }) => revoked === null)).toEqual([]);
  });

  test.each([
    [
      ['--url', 'export.example.org'],
      /^--url or SURVEY_EXPORT_URL: expected the address of the service, such as https:/,
    ],
    [['--url', 'http://127.0.0.1:1', '--revocation'], /^--revocation: needs SURVEY_EXPORT_KEY/],
  ])('%j fails in one line', async (args, message) => {
    const { status, stderr } = await run(args).outcome;
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});

test('a service that cannot be reached fails', async () => {
  const results = await verify('http://127.0.0.1:65535', { key });
  expect(results[0]).toMatchObject({
    outcome: 'FAILS',
    details: expect.stringMatching(/^fetch failed: connect ECONNREFUSED/),
  });
  expect(summaryOf(results)).toBe('FAILS: 3, not tested: 15');
});

test('an unknown survey fails', async () => {
  const surveyName = randomUUID();
  const [, listed] = await only([ACCEPTED, COUNTED], origin, { key, surveyName });
  const details = expect.stringContaining(`--survey: the account has no survey "${surveyName}", only `);
  expect(listed).toMatchObject({ outcome: 'FAILS', details });
});

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { type IssuedKey, issueKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { IssuedKeys } from '../../tools/verify/issued-keys.ts';
import type { VerifyOptions } from '../../tools/verify/subject.ts';
import { CHECKS, summaryOf, verify } from '../../tools/verify/verify.ts';
import { query } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTool } from '../support/run-tool.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type Exchange, type Fault, startProxy } from './verify-proxy.ts';

const SURVEY = 'Health & Habits – Saúde';
const EMAIL = 'verify@example.org';
const OTHER_EMAIL = 'other@example.org';

let stack: Stack;
/** Between the Worker and its database. */
let database: FaultProxy;
let origin: string;
let databaseUrl: string;
let key: string;
let otherKey: string;
let proxy: Awaited<ReturnType<typeof startProxy>>;

beforeAll(async () => {
  stack = await startStack({ startProxy: async (endpoint) => (database = await startFaultProxy(endpoint)).url });
  ({ origin, databaseUrl } = stack.address);
  await storeSurveys();
  ({ key } = await issueKey(databaseUrl, { email: EMAIL, name: 'key' }));
  ({ key: otherKey } = await issueKey(databaseUrl, { email: OTHER_EMAIL, name: 'key' }));
  proxy = await startProxy(origin);
});
afterAll(async () => {
  await proxy?.close();
  await database?.close();
  await stack?.stop();
});

/** Stores a survey of two form versions, one of fewer responses, one without any, and one of another account. */
async function storeSurveys(): Promise<void> {
  await query(databaseUrl, `insert into users (email) values ($1), ($2)`, [EMAIL, OTHER_EMAIL]);
  await query(
    databaseUrl,
    `insert into surveys (userid, survey_name, shortcode, title, formid)
     select id, name, 'form', 'Title', 'form' from users, unnest(array[$1, $1, 'large', 'empty']) name where email = $2
     union all select id, 'foreign', 'form', 'Title', 'form' from users where email = $3`,
    [SURVEY, EMAIL, OTHER_EMAIL],
  );
  await query(
    databaseUrl,
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, question_text,
       response, timestamp, metadata)
     select '', (array_agg(id))[1 + i % count(*)], 'form', i % 40, 'user ' || i % 40, (array['consent', 'health', 'age'])[1 + i % 3], i % 3,
       'Do you want to take part, or not?', case i % 4 when 0 then '"' || i || E'"\\r\\n–' when 1 then '' else 'Ndiyo' end,
       '2026-03-01Z'::timestamptz + i / 2 * interval '2 h 1.000047 s', case when i % 5 > 0 then '{"platform": "web", "page": 12345678901234567890}'::jsonb end
     from generate_series(1, 601) i, surveys where survey_name = $1 or i < 300 and survey_name <> 'empty' group by i, survey_name`,
    [SURVEY],
  );
}

const ACCEPTED = 'the key is accepted';
const COUNTED = "the account's surveys are listed and counted";
const ABORTS = ['over HTTP/1.1', 'over HTTP/2', 'with gzip'].map((how) => `an aborted transfer is visible ${how}`);
const REVOKED = 'a revoked key is refused within 5 minutes';
const CSV = 'the CSV file has as many responses as were counted';
const GZIP = ['with gzip, the CSV file has the same bytes', 'four simultaneous exports have the same bytes'];
const SCOPING = "neither key sees the other account's surveys";
const COUNTS = 'summary and codebook count the same responses';
const NDJSON = 'the NDJSON file has the same responses';
const WORKBOOK = 'the workbook is complete';

const isFile = ({ sent: { method, url }, status }: Exchange, path: string) =>
  method === 'GET' && status === 200 && url.pathname.endsWith(`/responses/${path}`);
const isZipped = ({ headers }: Exchange) => headers['content-encoding'] === 'gzip';
const isWholeCsv = (exchange: Exchange) =>
  isFile(exchange, 'csv') && !isZipped(exchange) && !exchange.sent.url.searchParams.has('after');

/** Changes the responses that meet a condition. */
const change = (condition: (exchange: Exchange) => boolean, how: (exchange: Exchange) => void): Fault => ({
  onResponse: (exchange) => condition(exchange) && how(exchange),
});

/** Changes the text of a body. */
function edit(exchange: Exchange, how: (text: string) => string): void {
  const text = how((isZipped(exchange) ? gunzipSync(exchange.body) : exchange.body).toString());
  exchange.body = isZipped(exchange) ? gzipSync(text) : Buffer.from(text);
}

/** Changes the text of a file. */
const inFile = (path: string, how: (text: string) => string) =>
  change(
    (exchange) => isFile(exchange, path),
    (exchange) => edit(exchange, how),
  );

const inStatus = (status: number, how: (exchange: Exchange) => void) =>
  change((exchange) => exchange.status === status, how);

/** Sends requests for the other account's survey with its own key. */
const foreignRows = (path: string): Fault => ({
  onRequest({ url, headers }) {
    const isForeign = url.pathname.endsWith(path) && url.searchParams.get('survey') === 'foreign';
    if (isForeign) headers['authorization'] = `Bearer ${otherKey}`;
  },
});

/** Ends the transfers whose key expires, which are of the largest survey, in the middle. They are the only requests for that file. */
const inAborted = (how: (exchange: Exchange) => void): Fault => ({
  onResponse(exchange) {
    const { url } = exchange.sent;
    if (url.searchParams.get('survey') !== 'large') return;
    if (exchange.sent.method === 'HEAD') exchange.headers['x-total-count'] = '110000';
    else if (isFile(exchange, 'csv')) {
      exchange.body = exchange.body.subarray(0, exchange.body.length / 2);
      how(exchange);
    }
  },
});

/** Keys that the service refuses at once when they are revoked, so that the test does not wait for its cache. */
class UncachedKeys extends IssuedKeys {
  override async revoke(issued: IssuedKey): Promise<void> {
    await super.revoke(issued);
    await stack.worker.keys.delete(await hashApiKey(issued.key));
  }
}

/** Tests the service through the proxy. */
async function verifyProxy(options: VerifyOptions, names?: readonly string[]) {
  await using issuedKeys = new UncachedKeys(databaseUrl);
  return await verify(proxy.origin, { key, otherKey, issuedKeys, ...options }, names);
}

const issued = async () => (await listKeys(databaseUrl, EMAIL)).filter(({ name }) => name === 'npm run verify');

test('everything holds for the service', async () => {
  const lines: string[] = [];
  proxy.inject(inAborted((exchange) => (exchange.isBroken = true)));
  const results = await verifyProxy({ log: (line) => lines.push(line) });
  const names = Object.keys(CHECKS);
  expect(results.map(({ name, outcome }) => [name, outcome])).toEqual(names.map((name) => [name, 'holds']));
  expect(lines).toHaveLength(names.length);
  const printed = lines.join('\n');
  expect(printed).toMatch(/no cf-placement; \d+ ms without a query, \d+ ms with one$/m);
  expect(printed).toContain(`reading the 601 responses of "${SURVEY}"`); // not 110,000
  expect(printed.match(/broken off after \d+ of 110000 responses: /g)).toHaveLength(3);
  expect((await issued()).filter(({ revoked }) => revoked === null)).toEqual([]);
});

test('without a key, what needs one is not tested', async () => {
  proxy.inject({});
  expect(summaryOf(await verify(proxy.origin))).toBe(`holds: 2, not tested: ${Object.keys(CHECKS).length - 2}`);
});

test('the placement is named, and a database that is far from it', async () => {
  proxy.inject(
    change(
      () => true,
      ({ headers }) => (headers['cf-placement'] = 'remote-FRA'),
    ),
  );
  database.inject(({ query: text }) => (text.includes('translation_conf') ? sleep(500) : undefined)); // the list of surveys
  const [, placement] = await verifyProxy({}, [ACCEPTED, 'placement and round trips are measured']);
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
  proxy.inject(
    change(
      ({ sent }) => sent.method === 'GET' && !isAwake,
      (exchange) => {
        isAwake = true;
        exchange.status = 503;
        exchange.headers['x-error-code'] = 'database_unavailable';
      },
    ),
  );
  const [health] = await verify(proxy.origin);
  expect(health).toMatchObject({
    outcome: 'holds',
    details: expect.stringMatching(
      /^after [\d,]+ ms, then [\d,]+ ms: a cold start, or a suspended database$/,
    ) as string,
  });
});

test('a survey that is sent before the key expires is too small to test aborted transfers', async () => {
  proxy.inject({});
  const aborts = (await verifyProxy({}, [ACCEPTED, COUNTED, ...ABORTS])).slice(2);
  const details = 'needs a larger survey: all 601 responses were sent before the key expired';
  expect(aborts).toEqual(ABORTS.map((name) => ({ name, outcome: 'not tested', details })));
});

/** A fault, the statements that fail because of it, and what the first of them prints. */
type Case = readonly [what: string, fault: Fault, names: readonly string[], details: RegExp];

const faults: readonly Case[] = [
  [
    'a /healthz that fails',
    change(
      ({ sent }) => sent.url.pathname === '/healthz' && sent.method === 'GET',
      (exchange) => (exchange.status = 500),
    ),
    ['the service reaches its database'],
    /^\/healthz: status: 500, expected 200$/,
  ],
  [
    'an address that redirects',
    change(
      ({ sent }) => sent.url.pathname === '/healthz',
      (exchange) => {
        exchange.status = 301;
        exchange.headers['location'] = 'https://export.example.org/healthz';
      },
    ),
    ['the service reaches its database'],
    /^\/healthz redirects to https:\/\/export\.example\.org\/healthz: is --url the final address\?$/,
  ],
  [
    'a challenge of Cloudflare',
    inStatus(401, (exchange) => {
      exchange.status = 403;
      exchange.headers['content-type'] = 'text/html; charset=UTF-8';
    }),
    ['without a valid key, the status is 401'],
    /status 403 with text\/html; .* is not from the service\. If Cloudflare challenges programs, turn off Bot Fight Mode/,
  ],
  [
    'an error without its code',
    inStatus(401, ({ headers }) => delete headers['x-error-code']),
    ['without a valid key, the status is 401'],
    /^\/api\/v1\/surveys: status: 401, expected 401 invalid_token$/,
  ],
  [
    'a path with // that is redirected',
    change(
      ({ sent }) => sent.url.pathname.includes('//'),
      (exchange) => (exchange.status = 308),
    ),
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
    change(
      ({ headers }) => headers['x-total-count'] === '601',
      ({ headers }) => (headers['x-total-count'] = '602'),
    ),
    [CSV],
    /^the CSV file: 601 responses, but 602 were counted$/,
  ],
  [
    'no X-Total-Count',
    inStatus(200, ({ headers }) => delete headers['x-total-count']),
    [COUNTED],
    /^X-Total-Count is "missing"$/,
  ],
  [
    'a CSV file that ends within a record',
    change(isWholeCsv, (exchange) => (exchange.body = exchange.body.subarray(0, -20))),
    [CSV],
    /^the CSV file: 600 responses, but 601 were counted$/,
  ],
  [
    'a CSV file with a response to a foreign survey',
    change(isWholeCsv, (exchange) =>
      edit(exchange, (text) => text.replace(/\n,"",[\da-f-]{36},/, `\n,"",${randomUUID()},`)),
    ),
    [CSV],
    /^record 1 of the CSV file is of the unknown form version [\da-f-]{36}$/,
  ],
  [
    'a CSV file whose transfer breaks off',
    change(isWholeCsv, (exchange) => {
      exchange.body = exchange.body.subarray(0, 50_000);
      exchange.isBroken = true;
    }),
    [CSV],
    /^terminated: /,
  ],
  ...(
    [
      ['answer', '"Ndiyo"', '"Hapana"'],
      ['form', '"shortcode":"form"', '"shortcode":"other"'],
      ['metadata', '"platform": "web"', '"platform": "app"'],
      ['page, where there is none', '"pageid":null', '"pageid":""'],
    ] as const
  ).map(([what, from, to]): Case => {
    const fault = inFile('ndjson', (text) => text.replace(from, to));
    const details = /^the responses of the NDJSON file are not those of the CSV file$/;
    return [`an NDJSON file with another ${what}`, fault, [NDJSON], details];
  }),
  [
    'no gzip',
    { onRequest: ({ headers }) => delete headers['accept-encoding'] },
    GZIP,
    /^Content-Encoding: null, expected "gzip"$/,
  ],
  [
    'a gzip file that cannot be decompressed',
    change(
      (exchange) => isFile(exchange, 'csv') && isZipped(exchange),
      ({ body }) => body.fill(0, 1_000, 1_100),
    ),
    GZIP,
    /^terminated: /,
  ],
  [
    'a gzip file with another answer',
    change(isZipped, (exchange) => edit(exchange, (text) => text.replace('Ndiyo', 'Hapana'))),
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
    change(
      (exchange) => isFile(exchange, 'xlsx'),
      (exchange) => (exchange.body = exchange.body.subarray(0, -100)),
    ),
    [WORKBOOK],
    /^not a complete workbook: /,
  ],
  [
    'a workbook of fewer responses',
    { onRequest: ({ url }) => url.pathname.endsWith('/xlsx') && url.searchParams.set('question_ref', 'age') },
    [WORKBOOK],
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
  [
    'aborted transfers that end like complete ones',
    inAborted(() => {}),
    ABORTS,
    /^an aborted transfer ended like a complete one, after \d+ of 110000 responses$/,
  ],
  [
    'aborted transfers that end with what is not gzip',
    inAborted((exchange) => (exchange.body = Buffer.concat([exchange.body, Buffer.alloc(1000, 'not gzip')]))),
    ABORTS,
    /^an aborted transfer ended like a complete one, after \d+ of 110000 responses$/,
  ],
  [
    'a revoked key that is accepted',
    {
      onRequest({ url, headers, method }) {
        if (method === 'HEAD' && url.pathname.endsWith('/key')) headers['authorization'] = `Bearer ${key}`;
      },
    },
    [REVOKED],
    /^HEAD \/api\/v1\/key: status 200 \d+ s after the key was revoked$/,
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
      onRequest: (sent) => injected.forEach(({ onRequest }) => onRequest?.(sent)),
      onResponse: (exchange) => injected.forEach(({ onResponse }) => onResponse?.(exchange)),
    });
    const results = await verifyProxy({ revocationMs: 0 }, [...new Set([...BASIC, ...names])]);
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

  test('exits with 0 if nothing fails', async () => {
    const { status, stdout } = await run([], { SURVEY_EXPORT_URL: `${origin}/api/v1/` }).outcome;
    expect(status).toBe(0);
    expect(stdout).toContain(`Testing ${origin} without a key: what needs one is not tested\n`);
    expect(stdout).toMatch(/\nholds: 2, not tested: 16\.\n$/);
  });

  test('exits with 1 when a statement fails, and prints what it found; takes --key', async () => {
    const { status, stdout } = await run(['--url', origin, '--key', generateApiKey()]).outcome;
    expect(status).toBe(1);
    expect(stdout).toMatch(/^FAILS {7}the key is accepted/m);
    expect(stdout).toMatch(/^ {14}the service refuses the key: is it complete, and was it issued for this service\?$/m);
    expect(stdout).toMatch(/\nholds: 2, FAILS: 1, not tested: 15\.\n$/);
  });

  test('prints each result at once, and an interruption leaves no valid key behind', async () => {
    // The keys' names in earlier versions.
    const env = { SURVEY_KEY: key, SURVEY_KEY_2: otherKey, DATABASE_URL: databaseUrl };
    const before = (await issued()).length;
    const { child, outcome } = run(['--url', origin, '--revocation'], env);
    await expect.poll(async () => (await issued()).length).toBeGreaterThan(before);
    child.kill('SIGINT');
    const { status, stdout, stderr } = await outcome;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^interrupted$/m);
    expect((await issued()).filter(({ revoked }) => revoked === null)).toEqual([]);
    for (const name of Object.keys(CHECKS).slice(0, -4)) expect(stdout).toContain(`\nholds       ${name} `);
    expect(stdout).not.toContain(key);
  });

  test.each([
    [
      ['--url', 'export.example.org'],
      /^--url or SURVEY_EXPORT_URL: expected the address of the service, such as https:.*\n$/,
    ],
    [['--url', 'http://127.0.0.1:1', '--revocation'], /^--revocation: needs SURVEY_EXPORT_KEY.*\n$/],
  ])('%j fails in one line', async (args, message) => {
    expect(await run(args).outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(message) as string,
    });
  });
});

test('a service that cannot be reached fails', async () => {
  const results = await verify('http://127.0.0.1:65535', { key });
  expect(results[0]).toMatchObject({
    outcome: 'FAILS',
    details: expect.stringMatching(/^fetch failed: connect ECONNREFUSED/) as string,
  });
  expect(summaryOf(results)).toBe('FAILS: 3, not tested: 15');
});

test('an unknown survey fails', async () => {
  const surveyName = randomUUID();
  const [, listed] = await verify(origin, { key, surveyName }, [ACCEPTED, COUNTED]);
  const details = expect.stringContaining(`--survey: the account has no survey "${surveyName}", only `) as string;
  expect(listed).toMatchObject({ outcome: 'FAILS', details });
});

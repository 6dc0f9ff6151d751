import { randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { CHECKS } from '../../tools/verify/checks.ts';
import { verify } from '../../tools/verify/verify.ts';
import { query } from '../support/database.ts';
import { startTool } from '../support/run-tool.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type Exchange, type Fault, type Proxy, startProxy } from './verify-proxy.ts';

const SURVEY = 'Health & Habits – Saúde';

let stack: Stack;
let origin: string;
let key: string;
let proxy: Proxy;

beforeAll(async () => {
  stack = await startStack();
  ({ origin } = stack.address);
  key = await storeSurvey(stack.address.databaseUrl);
  proxy = await startProxy(origin);
});
afterAll(async () => {
  await proxy?.close();
  await stack?.stop();
});

/** Stores a survey of several pages, and one without responses. @returns a key of their account */
async function storeSurvey(url: string): Promise<string> {
  await query(url, `insert into users (email) values ('verify@example.org')`);
  await query(
    url,
    `insert into surveys (userid, survey_name, shortcode, title, formid)
     select id, name, 'form', 'Title', 'form' from users, unnest(array[$1, $1, 'empty']) name`,
    [SURVEY],
  );
  await query(
    url,
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, question_text,
       response, timestamp, metadata)
     select '', (array_agg(id))[1 + i % 2], 'form', i % 40, 'user ' || i % 40, (array['consent', 'health', 'age'])[1 + i % 3], i % 3,
       case i % 3 when 1 then E'How is your health?\n- A. Good\n- B. ' || (array['Poor', 'Bad'])[1 + i / 120 % 2] else 'Do you want to take part, or not?' end,
       case i % 4 when 0 then '"' || i || E'"\r\n–' when 1 then '' when 2 then 'Ndiyo' else chr(ascii('A') + i % 5) end,
       '2026-03-01Z'::timestamptz + i / 2 * interval '2 h 1.000047 s', case when i % 5 > 0 then '{"platform": "web", "page": 12345678901234567890}'::jsonb end
     from generate_series(1, 1301) i, surveys where survey_name = $1 group by i`,
    [SURVEY],
  );
  return (await issueKey(url, { email: 'verify@example.org', name: 'verify' })).key;
}

/** The statements that do not hold, with the details, and those that were not tested. */
async function verified(options: { key?: string; surveyName?: string } = { key, surveyName: SURVEY }) {
  const { results } = await verify(proxy.origin, options);
  const of = (outcome: string) => results.filter((one) => one.outcome === outcome);
  return {
    holding: of('holds').length,
    failing: Object.fromEntries(of('FAILS').map(({ name, details }) => [name, details])),
    untested: of('not tested').map(({ name }) => name),
  };
}

test('everything holds for the service', async () => {
  proxy.inject({});
  expect(await verified()).toEqual({ holding: CHECKS.length, failing: {}, untested: [] });
});

test('a key that the service refuses is named as the reason', async () => {
  proxy.inject({});
  const { failing } = await verified({ key: generateApiKey(), surveyName: SURVEY });
  expect(Object.values(failing).join()).toBe(
    'GET /api/v1/surveys: the service refuses the key: is it complete, and of this service?',
  );
});

test('without a key, what needs one is not tested', async () => {
  proxy.inject({});
  const { holding, failing, untested } = await verified({});
  expect(failing).toEqual({});
  expect(holding + untested.length).toBe(CHECKS.length);
  expect(holding).toBe(9);
});

const isFile = ({ url, method }: Exchange, path: string) =>
  method === 'GET' && url.pathname.endsWith(`/responses/${path}`);
const isWholeCsv = (exchange: Exchange) =>
  isFile(exchange, 'csv') &&
  !exchange.url.searchParams.has('layout') &&
  !exchange.url.searchParams.has('after') &&
  exchange.requestHeaders['accept-encoding'] !== 'gzip';
const isDigests = ({ url }: { readonly url: URL }) => url.pathname.endsWith('/digests');
const isSecondPage = ({ url, status }: Exchange) =>
  status === 200 && url.searchParams.get('pageSize') === '1000' && url.searchParams.has('after');

/** Changes the text of a body. */
function edit(exchange: Exchange, how: (text: string) => string): void {
  const isZipped = exchange.headers['content-encoding'] === 'gzip';
  const text = how((isZipped ? gunzipSync(exchange.body) : exchange.body).toString());
  exchange.body = isZipped ? gzipSync(text) : Buffer.from(text);
}

/** Changes the rows of a page. */
function editRows(exchange: Exchange, how: (rows: unknown[]) => unknown[]): void {
  edit(exchange, (text) => {
    const { responses } = JSON.parse(text) as { responses: unknown[] };
    return JSON.stringify({ responses: how(responses) });
  });
}

const onResponse = (how: NonNullable<Fault['onResponse']>): Fault => ({ onResponse: how });

const CSV = 'the CSV file is complete';
const PAGES = 'paging returns every response once, in order, and then an empty page';
const SAME = 'the CSV file and the pages have the same responses';
const DIGESTS = 'the digests are those of the CSV file and the form data';
const LABELS = 'with labels, a wide CSV file has those of the choices in place of their letters';
const NDJSON = 'the NDJSON file has the same responses, one object per line';

/** A fault, the statements that fail because of it, and the details of the first of them. */
type Case = readonly [what: string, fault: Fault, names: readonly string[], details: RegExp];

/** Those of a group are injected at the same time. */
const groups: readonly (readonly Case[])[] = [
  [
    [
      'a CSV file that ends after a record',
      onResponse((exchange) => {
        if (isWholeCsv(exchange)) edit(exchange, (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
      }),
      [CSV],
      /csv: \d+ responses, X-Total-Count is \d+$/,
    ],
    [
      'a response that may be cached',
      onResponse(({ url, headers }) => {
        if (url.pathname === '/api/v1/surveys') headers['cache-control'] = 'public, max-age=60';
      }),
      ['no response may be cached'],
      /Cache-Control is "public, max-age=60", not "private, no-store"/,
    ],
  ],
  [
    [
      'a CSV file that ends within a record',
      onResponse((exchange) => {
        if (isWholeCsv(exchange)) exchange.body = exchange.body.subarray(0, -20);
      }),
      [CSV],
      /^the CSV file ends within record \d+$/,
    ],
    [
      'a 401 without WWW-Authenticate',
      onResponse(({ headers }) => delete headers['www-authenticate']),
      ['without a valid key, every path is 401 with WWW-Authenticate'],
      /^GET \/api\/v1\/surveys: WWW-Authenticate: missing, expected "Bearer"$/,
    ],
  ],
  [
    [
      'a CSV file whose transfer breaks off',
      onResponse((exchange) => {
        if (isWholeCsv(exchange)) exchange.breakAfter = 100_000;
      }),
      [CSV],
      /csv: the transfer broke off after 100000 bytes: aborted$/,
    ],
    [
      'responses that come from a cache',
      onResponse(({ headers }) => (headers['x-request-id'] = '7c9e6679-7425-40de-944b-e07fc1f90ae7')),
      ['every response has its own X-Request-Id'],
      /^\d+ responses have 1 different X-Request-Ids$/,
    ],
  ],
  [
    [
      'a CSV file with a lost comma',
      onResponse((exchange) => {
        if (isWholeCsv(exchange)) edit(exchange, (text) => text.replace(',consent,', 'consent,'));
      }),
      [CSV],
      /^record \d+ of the CSV file has not 14 cells, or wrong quotes$/,
    ],
    [
      'an ETag that is ignored',
      {
        onRequest: ({ url, headers }) => {
          if (isDigests({ url })) delete headers['if-none-match'];
        },
      },
      ['ETag: 304 while a page, the digests or the list of surveys is the same'],
      /^GET \/api\/v1\/responses\/digests with If-None-Match: status: 200, expected 304$/,
    ],
    [
      'an error with a code beside its message',
      onResponse((exchange) => {
        if (exchange.status === 400) edit(exchange, (text) => text.replace('{', '{"code":400,'));
      }),
      ['a missing survey and bad parameters are 400, an unknown survey 500'],
      /body: .*"code":400/,
    ],
  ],
  [
    [
      'a wrong X-Total-Count',
      onResponse(({ headers }) => {
        if (headers['x-total-count'] !== undefined)
          headers['x-total-count'] = String(Number(headers['x-total-count']) + 1);
      }),
      [PAGES, CSV, NDJSON, 'the summary counts the responses'],
      /^all pages: \d+ responses, X-Total-Count is \d+$/,
    ],
    [
      'errors without CORS',
      onResponse(({ status, headers }) => {
        if (status >= 400) delete headers['access-control-allow-origin'];
      }),
      ['every response allows any origin (CORS) and exposes its headers'],
      /^GET \/api\/v1\/surveys \(401\): Access-Control-Allow-Origin is "missing", not "\*"$/m,
    ],
  ],
  [
    [
      'no X-Total-Count',
      onResponse(({ headers }) => delete headers['x-total-count']),
      ['HEAD has no body, and counts the responses in X-Total-Count'],
      /X-Total-Count is "missing"$/,
    ],
    [
      'a preflight that needs a key',
      onResponse((exchange) => {
        if (exchange.method === 'OPTIONS') exchange.status = 401;
      }),
      ['a CORS preflight needs no key and allows the Authorization header'],
      /status 401$/,
    ],
    [
      'no Server-Timing',
      onResponse(({ headers }) => delete headers['server-timing']),
      ['every response has Server-Timing, and nosniff'],
      /Server-Timing is "missing"/,
    ],
    [
      'a /healthz that fails',
      onResponse((exchange) => {
        if (exchange.url.pathname === '/healthz' && exchange.method === 'GET') exchange.status = 500;
      }),
      ['/healthz is 200: the service reaches its database'],
      /status: 500, expected 200$/,
    ],
  ],
  [
    [
      'an hour without its digest',
      onResponse((exchange) => {
        if (isDigests(exchange) && exchange.url.searchParams.get('interval') === 'hour')
          edit(exchange, (text) => text.replace(/"digests":\[.*?\},?/, '"digests":['));
      }),
      [DIGESTS],
      /digests: hour 1: .*, expected \{"start":"2026-03-01T00:00:00\.000Z"/,
    ],
    [
      'a summary of one response less',
      onResponse((exchange) => {
        if (exchange.url.pathname.endsWith('/summary'))
          edit(exchange, (text) => text.replace(/"responses":(\d+)/, (_, n) => `"responses":${n - 1}`));
      }),
      ['the summary counts the responses'],
      /summary: 1300 responses, X-Total-Count is 1301$/,
    ],
    [
      'a choice with the label of another',
      onResponse((exchange) => {
        if (exchange.url.pathname.endsWith('/questions'))
          edit(exchange, (text) => text.replace('"label":"Good"', '"label":"Poor"'));
      }),
      ['the codebook has the choices that the text of each question lists'],
      /choices of "health": .*"Poor"/,
    ],
    [
      'a gzip file that differs from the plain one',
      onResponse((exchange) => {
        if (isFile(exchange, 'csv') && exchange.requestHeaders['accept-encoding'] === 'gzip')
          edit(exchange, (text) => text.replace('consent', 'consent?'));
      }),
      ['with gzip, the CSV file has the same bytes'],
      /SHA-256 [\da-f]+, without gzip/,
    ],
    [
      'a page that lacks a response',
      onResponse((exchange) => {
        if (isSecondPage(exchange)) editRows(exchange, (rows) => (rows.length < 1000 ? rows.slice(1) : rows));
      }),
      [PAGES],
      /^all pages: \d+ responses, X-Total-Count is \d+$/,
    ],
    [
      'a resumed download that starts from the beginning',
      {
        onRequest: ({ url }) => {
          if (url.pathname.endsWith('/csv')) url.searchParams.delete('after');
        },
      },
      ['a CSV download resumes after any record'],
      /X-Total-Count: \d+, expected \d+$/,
    ],
    [
      'an NDJSON file with a raw line separator',
      onResponse((exchange) => {
        if (isFile(exchange, 'ndjson')) edit(exchange, (text) => text.replace('Do you', 'Do\u2028you'));
      }),
      [NDJSON],
      /contains U\+0085, U\+2028 or U\+2029$/,
    ],
  ],
  [
    [
      'a digest with a wrong digit',
      onResponse((exchange) => {
        if (isDigests(exchange))
          edit(exchange, (text) =>
            text.replace(/("digest":"[\da-f]*)(.)"/, (_, start, last) => `${start}${last === '0' ? 1 : 0}"`),
          );
      }),
      [DIGESTS],
      /digests: month 1: .*"start":"2026-03-01T00:00:00\.000Z"/,
    ],
    [
      'a label of another row',
      onResponse((exchange) => {
        if (exchange.url.searchParams.get('value') === 'label') edit(exchange, (text) => text.replace('Poor', 'Bad'));
      }),
      [LABELS],
      /columns=question: "health" of "user \d+": "Bad", expected "Poor"$/,
    ],
    [
      'a gzip file without its end',
      onResponse((exchange) => {
        if (isFile(exchange, 'csv') && exchange.requestHeaders['accept-encoding'] === 'gzip')
          exchange.body = exchange.body.subarray(0, -4);
      }),
      ['with gzip, the CSV file has the same bytes'],
      /the transfer broke off after \d+ bytes: unexpected end of file$/,
    ],
    [
      'a page with a response twice in place of another',
      onResponse((exchange) => {
        if (isSecondPage(exchange))
          editRows(exchange, ([first, ...rest]) => (rest.length > 0 ? [first, first, ...rest.slice(1)] : []));
      }),
      [SAME],
      /digest/,
    ],
    [
      'a page with a field too many',
      onResponse((exchange) => {
        if (exchange.url.pathname.endsWith('/responses'))
          edit(exchange, (text) => text.replace('"parent_surveyid"', '"extra":1,"parent_surveyid"'));
      }),
      ['a page has 25 responses by default, with the fields in order'],
      /^fields of a response: \["extra"/,
    ],
    [
      'a page that links to itself',
      onResponse(({ url, headers }) => {
        if (headers['link'] !== undefined) headers['link'] = `<${url.href}>; rel="next"`;
      }),
      ['a full page links to the next'],
      /^the page that is linked: /,
    ],
    [
      'an NDJSON file with another answer',
      onResponse((exchange) => {
        if (isFile(exchange, 'ndjson')) edit(exchange, (text) => text.replace('"platform"', '"Platform"'));
      }),
      [NDJSON],
      /digest/,
    ],
  ],
];

const together = (faults: readonly Fault[]): Fault => ({
  onRequest: (request) => faults.forEach(({ onRequest }) => onRequest?.(request)),
  onResponse: (exchange) => faults.forEach(({ onResponse: how }) => how?.(exchange)),
});

describe('names', () => {
  test.each(groups.map((cases) => [cases.map(([what]) => what).join('; '), cases] as const))('%s', async (_, cases) => {
    proxy.inject(together(cases.map(([, fault]) => fault)));
    const { failing } = await verified();
    expect(Object.keys(failing).toSorted()).toEqual(cases.flatMap(([, , names]) => names).toSorted());
    for (const [, , [name = ''], details] of cases) expect(failing[name]).toMatch(details);
  });
});

describe('npm run verify', () => {
  const run = (...args: string[]) => startTool('verify.ts', args, { SURVEY_KEY: '' }).outcome;

  test('prints a table, chooses a survey, and exits with 0', async () => {
    const { status, stdout } = await run('--url', `${origin}/api/v1/`, '--key', key);
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => /^holds {7}\S.* +[\d,]+ ms(?: |$)/.test(line))).toHaveLength(
      CHECKS.length,
    );
    expect(stdout).toContain(`in "${SURVEY}"`);
    expect(stdout).toMatch(
      new RegExp(`\n${CHECKS.length} of ${CHECKS.length} hold\\. \\d+ requests; .* ms at most\\.\n$`),
    );
    expect(stdout).not.toContain(key);
  });

  test('exits with 1 when a statement fails, and prints what it found', async () => {
    proxy.inject(onResponse(({ headers }) => delete headers['x-content-type-options']));
    const { status, stdout } = await run('--url', proxy.origin);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^FAILS {7}every response has Server-Timing, and nosniff/m);
    expect(stdout).toMatch(/^ {14}GET \/healthz \(200\): X-Content-Type-Options is "missing", not "nosniff"$/m);
    expect(stdout).toMatch(/, 1 fails, \d+ were not tested\./);
  });

  test.each([
    [['--url', 'http://127.0.0.1:1'], /^Cannot reach http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/],
    [[], /^--url: expected the address of the service/],
    [['--url', 'export.example.org'], /^--url: not an address such as https:/],
    [
      ['--url', 'https://example.org/docs'],
      /^--url: expected the address of the service alone, https:\/\/example\.org$/m,
    ],
    [['--url', 'http://127.0.0.1:1', '--survey', 'x'], /^--survey: needs --key/],
  ])('%j fails in one line', async (args, message) => {
    const { status, stderr } = await run(...args);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  test('an unknown survey fails', async () => {
    const name = randomUUID();
    const { status, stdout } = await run('--url', origin, '--key', key, '--survey', name);
    expect(status).toBe(1);
    expect(stdout).toContain(`--survey: the account has no survey "${name}", only `);
  });
});

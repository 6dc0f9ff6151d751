import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { type IssuedKey, issueKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { IssuedKeys } from '../../tools/verify/issued-keys.ts';
import type { VerifyOptions } from '../../tools/verify/subject.ts';
import { CHECKS, summaryOf, verify } from '../../tools/verify/verify.ts';
import { createAccount, createBulkSurvey } from '../support/data.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';
import { type Fault, type Received, startProxy } from './verify-proxy.ts';

const SURVEY = 'Health & Habits – Saúde';

const stack = await startStack();
afterAll(() => stack.stop());
const { origin, databaseUrl } = stack.address;
useStack(stack.address);
const [own, other] = [await createAccount(), await createAccount()];
const { key, email } = own;
const { key: otherKey } = other;
const columns = {
  response: `case n % 4 when 0 then '"' || n || E'"\\r\\n–' when 1 then '' else 'Ndiyo' end`,
  // the last response to the first survey is too recent to be counted
  timestamp: `case n when 601 then now() else timestamptz '2026-03-01Z' + n / 2 * interval '2 h 1.000047 s' end`,
  metadata: `case when n % 5 > 0 then '{"platform": "web", "page": 12345678901234567890}'::jsonb end`,
};
for (const [of, name, rows] of [
  [own, SURVEY, 602],
  [own, 'large', 299],
  [own, 'empty', 0],
  [other, 'foreign', 299],
] as const)
  await createBulkSurvey(of, { name, rows, forms: 2, columns });
const proxy = await startProxy(origin);

const ACCEPTED = 'the key is accepted';
const COUNTED = "the account's surveys are listed and counted";
const ABORTS = ['over HTTP/1.1', 'over HTTP/2', 'with gzip'].map(
  (how) => `an aborted transfer is visible ${how}`,
);
const REVOKED = 'a revoked key is refused within 5 minutes';
const CSV = 'the CSV file has as many responses as were counted';

/**
 * Changes the responses that match a pattern such as `GET /healthz 200`, with a query after the
 * path and an encoding at the end.
 */
const on =
  (pattern: RegExp, change: (received: Received) => void): Fault =>
  ({ method, url }) =>
  (received) => {
    const encoding = received.headers['content-encoding'] ?? '';
    const line = `${method} ${url.pathname}${url.search} ${received.status} ${encoding}`;
    if (pattern.test(line.trim())) change(received);
  };

/** Changes the text of a body. */
function edit(received: Received, how: (text: string) => string): void {
  const isZipped = received.headers['content-encoding'] === 'gzip';
  const text = how((isZipped ? gunzipSync(received.body) : received.body).toString());
  received.body = isZipped ? gzipSync(text) : Buffer.from(text);
}

/** Replaces text in a file. */
const replaced = (file: string, from: string | RegExp, to: string) =>
  on(new RegExp(`^GET .*/responses/${file}\\?.* 200$`), (received) =>
    edit(received, (text) => text.replace(from, to)),
  );

/** The CSV file that is read as a whole, without compression. */
const WHOLE_CSV = /^GET .*\/csv\?(?!.*after=).* 200$/;

/** Sends some requests with a key, whatever their own. */
const withKey =
  (sentKey: string, condition: (url: URL) => boolean): Fault =>
  ({ url, headers }) => {
    if (condition(url)) headers['authorization'] = `Bearer ${sentKey}`;
  };

/** Cuts the transfers whose key expires, which are those of the largest survey, in the middle. */
const inAborted =
  (how: (received: Received) => void): Fault =>
  ({ method, url }) =>
  (received) => {
    if (url.searchParams.get('survey') !== 'large') return;
    if (method === 'HEAD') received.headers['x-total-count'] = '110000';
    else if (received.status === 200) {
      received.body = received.body.subarray(0, received.body.length / 2);
      how(received);
    }
  };

/**
 * Keys that the service refuses at once when they are revoked, so that the test does not wait for
 * its cache.
 */
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

const issued = async () =>
  (await listKeys(databaseUrl, email)).filter(({ name }) => name === 'npm run verify');

const LIMITS: KeyLimits = {
  v: 1,
  shortcodes: ['form0'],
  metadata: ['page'],
  pageid: false,
  secret: 'ab'.repeat(32),
};

test('everything holds for a limited key, and for keys with its limits', async () => {
  const tested = await issueKey(databaseUrl, { email, name: 'limited', limits: LIMITS });
  const before = (await issued()).length;
  const lines: string[] = [];
  proxy.inject(inAborted((received) => (received.isBroken = true)));
  const results = await verifyProxy({ key: tested.key, log: (line) => lines.push(line) });
  const names = Object.keys(CHECKS);
  expect(results.map((result) => [result.name, result.outcome])).toEqual(
    names.map((check) => [check, 'holds']),
  );
  // a hint follows if queries take long
  expect(lines.filter((line) => line.startsWith('holds'))).toHaveLength(names.length);
  const printed = lines.join('\n');
  expect(printed).toMatch(
    /; sees 1 form, 1 metadata key, no "pageid" \(the column and the metadata key\), pseudonyms [0-9a-f]{8}$/m,
  );
  expect(printed).toMatch(/no cf-placement; \d+ ms without a query, \d+ ms with one$/m);
  expect(printed).toContain(`reading the 601 responses of "${SURVEY}"`); // not 110,000
  expect(printed.match(/broken off after \d+ of 110000 responses: /g)).toHaveLength(3);
  const revoked = { limits: tested.limits, state: 'revoked' };
  expect((await issued()).slice(before)).toMatchObject([revoked, revoked]);
});

test('the placement is named, and a database that is far from it', async () => {
  proxy.inject(async ({ url }) => {
    if (url.pathname.endsWith('/surveys')) await sleep(300);
    return ({ headers }) => (headers['cf-placement'] = 'remote-FRA');
  });
  const [, placement] = await verifyProxy({}, [ACCEPTED, 'placement and round trips are measured']);
  expect(placement?.details).toMatch(
    /^remote-FRA; [\d,]+ ms without a query, [\d,]+ ms with one\nthe Worker is far from its database: see "Placement" in docs\/deploy\.md$/,
  );
});

test('a database that wakes up is waited for, and named', async () => {
  const asleep = on(/^GET/, (received) => {
    received.status = 503;
    received.headers['x-error-code'] = 'database_unavailable';
    proxy.inject();
  });
  proxy.inject(asleep);
  const [health] = await verify(proxy.origin);
  expect(health?.details).toMatch(
    /^after [\d,]+ ms, then [\d,]+ ms: a cold start, or a suspended database$/,
  );
});

test('a survey that is sent before the key expires is too small to test aborted transfers', async () => {
  proxy.inject();
  const options = { surveyName: 'large' };
  const aborts = (await verifyProxy(options, [ACCEPTED, COUNTED, ...ABORTS])).slice(2);
  const details = 'needs a larger survey: all 299 responses were sent before the key expired';
  expect(aborts).toEqual(ABORTS.map((name) => ({ name, outcome: 'not tested', details })));
});

/** What a statement prints that fails, and the fault. */
type Case = readonly [message: string, fault: Fault];

/**
 * Faults by the statement that fails. Without the first three statements, most others are not
 * tested.
 */
const FAULTS: Readonly<Record<string, readonly Case[]>> = {
  [ACCEPTED]: [
    [
      '/api/v1//key: status: 503 database_unavailable, expected 200; its log has the reason: see "503" in docs/runbook.md',
      on(/\/\//, (received) => {
        received.status = 503;
        received.headers['x-error-code'] = 'database_unavailable';
      }),
    ],
  ],
  [COUNTED]: [
    ['X-Total-Count is "missing"', on(/^HEAD/, ({ headers }) => delete headers['x-total-count'])],
  ],
  [CSV]: [
    [
      'the CSV file: 600 responses, but 601 were counted',
      on(WHOLE_CSV, (received) => (received.body = received.body.subarray(0, -20))),
    ],
    [
      'record 1 of the CSV file is of the unknown form version',
      replaced('csv', /(?<=,parentform,)[\da-f-]{36}/, randomUUID()),
    ],
    [
      'terminated: ',
      on(WHOLE_CSV, (received) =>
        Object.assign(received, { body: received.body.subarray(0, 50_000), isBroken: true }),
      ),
    ],
  ],
  'the service reaches its database': [
    [
      '/healthz redirects to https://export.example.org/healthz: is --url the final address?',
      on(
        /\/healthz/,
        ({ headers }) => (headers['location'] = 'https://export.example.org/healthz'),
      ),
    ],
  ],
  'without a valid key, the status is 401': [
    [
      'is not from the service. If Cloudflare challenges programs, turn off Bot Fight Mode',
      on(/ 401$/, (received) => {
        received.status = 403;
        received.headers['content-type'] = 'text/html; charset=UTF-8';
      }),
    ],
  ],
  "neither key sees the other account's surveys": [
    [
      '/api/v1/responses/csv: status: 200, expected 500 no_resp',
      withKey(
        otherKey,
        ({ pathname, searchParams }) =>
          pathname.endsWith('/csv') && searchParams.get('survey') === 'foreign',
      ),
    ],
    ['both keys list "', withKey(key, (url) => url.pathname.endsWith('/surveys'))],
  ],
  'the NDJSON file has the same responses': [
    [
      'the responses of the NDJSON file are not those of the CSV file',
      replaced('ndjson', '"platform": "web"', '"platform": "app"'),
    ],
  ],
  'with gzip, the CSV file has the same bytes': [
    [
      'Content-Encoding: null, expected "gzip"',
      ({ headers }) => void delete headers['accept-encoding'],
    ],
    [
      'the bytes with gzip are not those without',
      on(/ gzip$/, (received) => edit(received, (text) => text.replace('Ndiyo', 'Hapana'))),
    ],
  ],
  'a CSV file resumed in the middle continues with the same bytes': [
    [
      'the records are not those that follow in the whole file',
      ({ url }) => url.searchParams.delete('after'),
    ],
  ],
  'the workbook is complete': [
    [
      'not a complete workbook: ',
      on(/\/xlsx/, (received) => (received.body = received.body.subarray(0, -100))),
    ],
    [
      'the rows of the workbook: 101, expected 602',
      ({ url }) => {
        if (url.pathname.endsWith('/xlsx')) url.searchParams.set('question_ref', 'question_3');
      },
    ],
  ],
  'summary and codebook count the same responses': [
    [
      'the summary: 600 responses, but 601 were counted',
      replaced('summary', '"responses":601', '"responses":600'),
    ],
  ],
  'the digests match the CSV file and the form data': [
    [
      'digest of 2026-03-01T00:00:00.000Z: {',
      replaced('digests', /(?<="start".*?"digest":")[\da-f]{2}/, 'xx'),
    ],
  ],
};

const cases = Object.entries(FAULTS).flatMap(([name, faults]) =>
  faults.map((fault) => [name, ...fault] as const),
);

test.each(cases)('"%s" fails: %s', async (name, message, fault) => {
  proxy.inject(fault);
  const results = await verifyProxy({ surveyName: SURVEY }, [
    ...new Set([ACCEPTED, COUNTED, CSV, name]),
  ]);
  const details = expect.stringContaining(message) as string;
  expect(results.filter(({ outcome }) => outcome === 'FAILS')).toEqual([
    { name, outcome: 'FAILS', details },
  ]);
});

test.each<[string, (received: Received) => void]>([
  ['like complete ones', () => {}],
  [
    'with what is not gzip',
    (received) => (received.body = Buffer.concat([received.body, Buffer.alloc(1000, 'x')])),
  ],
])(
  'aborted transfers that end %s fail, and so does a revoked key that is accepted',
  async (_, end) => {
    proxy.inject((sent) => {
      if (sent.method === 'HEAD' && sent.url.pathname.endsWith('/key'))
        sent.headers['authorization'] = `Bearer ${key}`;
      return inAborted(end)(sent);
    });
    const results = await verifyProxy({ revocationMs: 0 }, [ACCEPTED, COUNTED, ...ABORTS, REVOKED]);
    const expected =
      /^an aborted transfer ended like a complete one, after \d+ of 110000 responses$/;
    const revoked = /^HEAD \/api\/v1\/key: status 200 \d+ s after the key was revoked$/;
    expect(results.slice(2).map(({ outcome, details }) => [outcome, details])).toEqual(
      [...ABORTS.map(() => expected), revoked].map((details) => [
        'FAILS',
        expect.stringMatching(details),
      ]),
    );
  },
);

describe('npm run verify', () => {
  const run = (line: string, env: NodeJS.ProcessEnv = {}) =>
    runHere('verify.ts', line, { SURVEY_EXPORT_KEY: '', SURVEY_EXPORT_KEY_2: '', ...env });

  test('exits with 0 if nothing fails', async () => {
    const { status, stdout } = await run('', { SURVEY_EXPORT_URL: `${origin}/api/v1/` });
    expect(status).toBe(0);
    expect(stdout).toContain(`Testing ${origin} without a key: what needs one is not tested\n`);
    expect(stdout).toMatch(/\nholds: 2, not tested: 16\.\n$/);
  });

  test('exits with 1 when a statement fails, and prints what it found; takes --key', async () => {
    const { status, stdout } = await run(`--url ${origin} --key ${generateApiKey()}`);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^FAILS {7}the key is accepted.*\n {14}the service refuses the key: is it complete, and was it issued for this service\?$/m,
    );
    expect(stdout).toMatch(/\nholds: 2, FAILS: 1, not tested: 15\.\n$/);
  });

  test('prints each result at once, and an interruption leaves no valid key', async () => {
    // The keys' names in earlier versions.
    const earlier = { SURVEY_KEY: key, SURVEY_KEY_2: otherKey };
    const newer = { SURVEY_EXPORT_KEY: '', SURVEY_EXPORT_KEY_2: '' };
    const env = { ...earlier, ...newer, DATABASE_URL: databaseUrl };
    const before = (await issued()).length;
    const { child, outcome } = startTool('verify.ts', ['--url', origin, '--revocation'], env);
    await expect.poll(async () => (await issued()).length).toBeGreaterThan(before);
    child.kill('SIGINT');
    const { status, stdout, stderr } = await outcome;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^interrupted$/m);
    expect((await issued()).filter(({ revoked }) => revoked === null)).toEqual([]);
    for (const name of Object.keys(CHECKS).slice(0, -4))
      expect(stdout).toContain(`\nholds       ${name} `);
    expect(stdout).toMatch(/; does not expire$/m);
    expect(stdout).not.toContain(key);
  });
});

test('a service that cannot be reached fails', async () => {
  const results = await verify('http://127.0.0.1:65535', { key });
  expect(results[0]?.details).toMatch(/^fetch failed: connect ECONNREFUSED/);
  expect(summaryOf(results)).toBe('FAILS: 3, not tested: 15');
});

test('an unknown survey fails', async () => {
  const surveyName = randomUUID();
  const [, listed] = await verify(origin, { key, surveyName }, [ACCEPTED, COUNTED]);
  const details = expect.stringContaining(
    `--survey: the account has no survey "${surveyName}", only `,
  ) as string;
  expect(listed).toMatchObject({ outcome: 'FAILS', details });
});

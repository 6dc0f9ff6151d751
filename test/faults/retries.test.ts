import { beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../tools/sql-gateway/failure.ts';
import { fetchApi, errorBody, query } from '../support/api.ts';
import { type TestSurvey, copyResponses, withClient } from '../support/data.ts';
import { wideCsv } from '../support/wide.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import {
  FEW_RETRIES,
  createPagedSurvey,
  firstAttempts,
  limitIndex,
  limitOf,
  statementOf,
  withFaultyService,
  withoutRetries,
} from './service.ts';

/** With what the database's endpoint refuses every connection. */
let refusal: Failure | undefined;

const service = withFaultyService({
  beforeRequest: async () => {
    if (refusal) throw refusal;
  },
});

const LAYOUTS = ['long', 'wide'] as const;

let survey: TestSurvey;
/** The files by their layout. */
let files: Record<(typeof LAYOUTS)[number], Buffer>;
let whole: Buffer;
/** SQL requests of an export at least. There are more if its client is slow: pages are then read again. */
const REQUESTS = 9;

beforeAll(async () => {
  survey = await createPagedSurvey();
  whole = await copyResponses(survey);
  files = { long: whole, wide: Buffer.from(await wideCsv(survey)) };
  await readExport(await beginExport(survey)); // caches the key
});

/** One of the first two requests is the page with the large response, whose body is read in parts. */
const transientFaults: [string, (exchange: Exchange) => void][] = [
  ['is cut off in the middle', (exchange) => exchange.cutAfter((body) => body.length / 2)],
  ['is cut off before its last bytes', (exchange) => exchange.cutAfter((body) => body.length - 10)],
  ['is cut off in its first bytes', (exchange) => exchange.cutAfter(10)],
  ['is reset before its response', (exchange) => exchange.reset()],
  ['gets garbage', (exchange) => exchange.reply(200, '<html>')],
  ['gets 429', (exchange) => exchange.reply(429, 'slow down')],
  ['gets 500', (exchange) => exchange.reply(500, '{"message":"failed to wake up the compute"}')],
  ['gets 503', (exchange) => exchange.reply(503, 'no')],
  ['finds the database shutting down', (exchange) => exchange.reply(400, '{"message":"terminating","code":"57P01"}')],
];

test('the export in this file takes enough requests for its faults to matter', async () => {
  service.proxy.inject();
  await readExport(await beginExport(survey));
  expect(service.proxy.requests).toBeGreaterThanOrEqual(REQUESTS);
});

/**
 * Downloads while the first attempt at each query is changed.
 *
 * @param change also takes the number of earlier queries
 */
async function expectSameBytes(
  change: (exchange: Exchange, position: number) => void,
  layout: (typeof LAYOUTS)[number] = 'long',
): Promise<void> {
  const isFirstAttempt = firstAttempts();
  let changed = 0;
  service.proxy.inject((exchange) => {
    if (isFirstAttempt(exchange)) change(exchange, changed++);
  });
  const { complete, bytes } = await readExport(await beginExport(survey, { parameters: { layout } }));
  expect({ complete, same: bytes.equals(files[layout]) }).toEqual({ complete: true, same: true });
  expect(changed).toBeGreaterThanOrEqual(REQUESTS);
}

test.each([
  ['long', 0],
  ['wide', 5],
] as const)(
  'an export has the same bytes if each of its requests fails once, each differently: layout=%s, %i',
  async (layout, shift) => {
    await expectSameBytes((exchange, position) => {
      const [, fault] = transientFaults[
        (position + shift) % transientFaults.length
      ] as (typeof transientFaults)[number];
      fault(exchange);
    }, layout);
    expect(service.proxy.requests).toBeGreaterThanOrEqual(2 * REQUESTS);
  },
);

test('an export survives the termination of all its database connections', async () => {
  await withClient(async (client) => {
    await client.query('begin');
    // The pages from here on wait for the lock.
    const isFirstAttempt = firstAttempts();
    let retries = 0;
    service.proxy.inject(async (exchange) => {
      if (!isFirstAttempt(exchange)) retries++;
      if (exchange.index === 4) await client.query('lock table responses in access exclusive mode');
    });
    const response = await beginExport(survey);
    const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await expect
      .poll(async () => (await client.query(`select ${others} and wait_event_type = 'Lock'`)).rowCount)
      .toBeGreaterThan(0);
    await client.query(`select pg_terminate_backend(pid) ${others}`);
    await client.query('rollback');
    const { complete, bytes } = await readExport(response);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
    expect(retries).toBeGreaterThan(0);
  });
});

/** Reads another account's survey. @returns a function that returns, in turn, its results of the statement of a request, or of others */
async function resultsOfAnother(): Promise<(exchange: Exchange) => Buffer> {
  const other = await createPagedSurvey();
  await readExport(await beginExport(other)); // caches the key
  const results = new Map<string, Buffer[]>();
  service.proxy.inject((exchange) =>
    exchange.change((body) => {
      const statement = statementOf(exchange);
      results.set(statement, [...(results.get(statement) ?? []), body]);
      return body;
    }),
  );
  await readExport(await beginExport(other));
  const all = [...results.values()].flat();
  let turn = 0;
  return (exchange) => {
    const of = results.get(statementOf(exchange)) ?? all;
    return of[turn++ % of.length] as Buffer;
  };
}

test('an export has the same bytes if each of its results is first exchanged for that of another account', async () => {
  const resultOf = await resultsOfAnother();
  await expectSameBytes((exchange) => exchange.change(() => resultOf(exchange)));
});

const withoutLast = (rows: unknown[]) => rows.slice(0, -1);

describe('results that lost rows, or have other rows, and agree with themselves', () => {
  const lies: readonly ((rows: unknown[]) => unknown[])[] = [
    (rows) => rows.slice(1),
    (rows) => rows.filter((_, i) => i !== rows.length >> 1),
    withoutLast,
    () => [],
    (rows) => rows.flatMap((row) => [row, row]),
  ];

  /** Tells each of the lies in turn. */
  function lie(exchange: Exchange, position: number): void {
    exchange.change((body) => changeRows(body, lies[position % lies.length] ?? withoutLast));
  }

  test.each(LAYOUTS)('a %s export has the same bytes if each of its results first arrives changed', async (layout) => {
    await expectSameBytes(lie, layout);
  });

  test('an export has the same bytes if each of its queries first arrives with a lower limit', async () => {
    let lowered = 0;
    await expectSameBytes((exchange) => {
      const index = limitIndex(exchange);
      if (index < 0) return;
      exchange.replaceParams(exchange.params.with(index, '3'));
      lowered++;
    });
    expect(lowered).toBeGreaterThanOrEqual(REQUESTS - 2);
  });

  test('an export has the same bytes if each of its results first arrives with the rows of another account', async () => {
    const resultOf = await resultsOfAnother();
    await expectSameBytes((exchange) => {
      const { rows } = JSON.parse(String(resultOf(exchange))) as { rows: unknown[] };
      exchange.change((body) => changeRows(body, () => rows));
    });
  });

  test('a page, a list and a count are the same if their results first arrive changed', async () => {
    const { key } = survey.account;
    const paths = ['', '/form-data', '/questions', '/summary', '/digests'].map((path) => `/responses${path}`);
    paths.push('/surveys');
    let position = 0;
    for (const path of paths) {
      const address = path + query({ survey: survey.name, ...(path === '/responses' ? { pageSize: 3 } : {}) });
      service.proxy.inject();
      const honest = await fetchApi(address, { key });
      expect(honest.status).toBe(200);
      const isFirstAttempt = firstAttempts();
      service.proxy.inject((exchange) => {
        if (isFirstAttempt(exchange)) lie(exchange, position++);
      });
      const { text } = await fetchApi(address, { key });
      expect({ path, text }).toEqual({ path, text: honest.text });
    }
  });
});

/** Changes the rows of a result, and its rowCount accordingly. */
function changeRows(body: Buffer, change: (rows: unknown[]) => unknown[]): string {
  const result = JSON.parse(body.toString()) as { rows: unknown[] };
  const rows = change(result.rows);
  return JSON.stringify({ ...result, rows, rowCount: rows.length });
}

test('an export survives a response that never arrives before its first byte, and one that stops after it', async () => {
  const isFirstAttempt = firstAttempts();
  let retries = 0;
  let isStopped = false;
  service.proxy.inject((exchange) => {
    if (!isFirstAttempt(exchange)) retries++;
    if (exchange.index === 1) exchange.hang();
    else if (!isStopped && exchange.query.includes('question_text') && limitOf(exchange) > 500) {
      isStopped = true;
      exchange.cutAfter((body) => body.length / 2, new Promise(() => {}));
    }
  });
  const { complete, bytes } = await readExport(await beginExport(survey));
  expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  expect(retries).toBeGreaterThanOrEqual(2);
});

describe('a permanent failure', () => {
  const permanentFaults: [(typeof LAYOUTS)[number], string, (exchange: Exchange) => void][] = [
    ['long', 'resets', (exchange) => exchange.reset()],
    ['wide', 'truncated responses', (exchange) => exchange.cutAfter(1000)],
    [
      'wide',
      'an error that is not worth a retry',
      (exchange) => exchange.reply(400, '{"message":"secret","code":"42P01","severity":"ERROR"}'),
    ],
    ...LAYOUTS.map((layout): (typeof permanentFaults)[number] => [
      layout,
      'pages without their last row',
      (exchange) => {
        if (/question_text|select userid, parent_surveyid/.test(exchange.query))
          exchange.change((body) => changeRows(body, withoutLast));
      },
    ]),
  ];

  test.each(permanentFaults)(
    'breaks off the transfer of a %s file after the first byte: %s',
    async (layout, _, fault) => {
      service.proxy.inject((exchange) => {
        if (exchange.index >= 5) fault(exchange);
      });
      const response = await beginExport(survey, { parameters: { layout }, headers: FEW_RETRIES });
      expect(response.statusCode).toBe(200);
      const { complete, bytes } = await readExport(response);
      expect(complete).toBe(false);
      expect(bytes.length).toBeGreaterThan(100);
      expect(bytes.length).toBeLessThan(files[layout].length);
      expect(files[layout].subarray(0, bytes.length).equals(bytes)).toBe(true); // the file contains no error message
    },
  );

  const paths = [
    '/surveys',
    '/responses',
    '/responses/csv',
    '/responses/form-data',
    '/responses/questions',
    '/responses/summary',
    '/responses/digests',
  ];

  async function expect503(path: string): Promise<void> {
    const headers = { 'If-None-Match': '*' };
    const response = await fetchApi(path + query({ survey: survey.name }), { key: survey.account.key, headers });
    const code = response.headers.get('X-Error-Code');
    const message = 'The database cannot be reached at the moment. Please try again shortly.';
    expect([response.status, code, response.text]).toEqual([503, 'database_unavailable', errorBody(message)]);
    expect(response.headers.get('Retry-After')).toBe('5');
  }

  test('gets 503 before the first byte', async () => {
    service.proxy.inject((exchange) => {
      if (exchange.index % 2 === 0) exchange.reset();
      else exchange.reply(503, 'secret words');
    });
    await withoutRetries(Promise.all(paths.map(expect503)));
    expect(service.proxy.requests).toBeGreaterThan(paths.length);
  });

  // As Neon's proxy words it, with status 400 and without a code: src/db/errors.ts.
  test.each([
    ['a compute that is disabled', 'The endpoint has been disabled. Enable it using the API and retry.'],
    ['a compute that was deleted', "The requested endpoint could not be found, or you don't have access to it."],
    ['a project that was deleted', "password authentication failed for user 'survey_export_worker'"],
    ['an address that IP Allow does not list', 'This IP address 192.0.2.1 is not allowed to connect to this endpoint.'],
  ])('gets 503 without a retry: %s', async (_, message) => {
    refusal = new Failure(400, message);
    try {
      for (const path of paths) {
        const isFirstAttempt = firstAttempts();
        let retries = 0;
        service.proxy.inject((exchange) => {
          if (!isFirstAttempt(exchange)) retries++;
        });
        await expect503(path);
        expect({ path, retries }).toEqual({ path, retries: 0 });
        expect(service.proxy.requests).toBeGreaterThan(0);
      }
    } finally {
      refusal = undefined;
    }
  });
});

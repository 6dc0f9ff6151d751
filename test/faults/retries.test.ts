import { describe, expect, test } from 'vitest';
import type { SqlResult } from '../chaos/faults/fault.ts';
import { lies } from '../chaos/faults/lies.ts';
import { passing } from '../chaos/faults/visible.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { copyResponses } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { randomFrom } from '../support/random.ts';
import {
  FEW_RETRIES,
  createPagedSurvey,
  firstAttempts,
  isPage,
  startFaultyService,
  withoutRetries,
} from './service.ts';

const service = await startFaultyService();
const survey = await createPagedSurvey();
// caches the key
const undisturbed = await readExport(await beginExport(survey, { parameters: { layout: 'wide' } }));
/** Its files by their layout. */
const files = { long: await copyResponses(survey), wide: undisturbed.bytes };
/** The results of the same requests of another account. */
const foreign: SqlResult[] = [];
service.proxy.inject((exchange) =>
  exchange.change((body) => {
    foreign.push(JSON.parse(body.toString()) as SqlResult);
    return body;
  }),
);
await readExport(await beginExport(await createPagedSurvey()));
service.proxy.inject();

/** SQL requests of an export at least, of a survey that was read before. */
const REQUESTS = 8;
/** Those of the script `chaos` that a retry overcomes. */
const faults = [...passing, ...lies];
const others = { earlier: foreign, foreign, unaltered: () => {} };

const PARTS = Array.from({ length: Math.ceil(faults.length / REQUESTS) }, (_, part) => part);

test.each(
  PARTS.map((part) => [part % 2 === 0 ? ('long' as const) : ('wide' as const), part] as const),
)(
  'a %s export has the same bytes if each of its requests first meets another fault: part %i of the faults',
  async (layout, part) => {
    const isFirstAttempt = firstAttempts();
    const random = randomFrom(part);
    let position = part * REQUESTS;
    service.proxy.inject((exchange) => {
      if (!isFirstAttempt(exchange)) return undefined;
      const fault = faults[position++ % faults.length];
      return fault?.inject(exchange, random, others);
    });
    const { complete, bytes } = await readExport(
      await beginExport(survey, { parameters: { layout } }),
    );
    expect({ complete, same: bytes.equals(files[layout]) }).toEqual({ complete: true, same: true });
    expect(position).toBeGreaterThanOrEqual((part + 1) * REQUESTS);
  },
);

test('an export survives a response that never arrives before its first byte, and one that stops after it', async () => {
  service.proxy.inject((exchange) => {
    if (exchange.index === 0) exchange.hang();
    if (exchange.index === 1) exchange.cutAfter((body) => body.length / 2, new Promise(() => {}));
  });
  const { complete, bytes } = await readExport(await beginExport(survey));
  expect({ complete, same: bytes.equals(files.long) }).toEqual({ complete: true, same: true });
});

describe('a permanent failure', () => {
  const permanent: [keyof typeof files, string, (exchange: Exchange) => void][] = [
    ['wide', 'truncated responses', (exchange) => exchange.cutAfter(1000)],
    [
      'long',
      'pages without their last row',
      (exchange) => {
        if (isPage(exchange)) exchange.change(withoutLastRow);
      },
    ],
  ];

  test.each(permanent)(
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
      // the file contains no error message
      expect(files[layout].subarray(0, bytes.length).equals(bytes)).toBe(true);
    },
  );

  function withoutLastRow(body: Buffer): string {
    const result = JSON.parse(body.toString()) as SqlResult;
    const rows = result.rows.slice(0, -1);
    return JSON.stringify({ ...result, rows, rowCount: rows.length });
  }

  const paths = ['/surveys'].concat(
    ['', '/csv', '/form-data', '/questions', '/summary', '/digests'].map(
      (path) => `/responses${path}`,
    ),
  );

  test.each([
    ['after retries', { status: 503, body: 'secret words', isRetried: true }],
    [
      'at once if a retry does not help',
      { status: 400, body: '{"message":"The endpoint has been disabled."}', isRetried: false },
    ],
  ])('gets 503 before the first byte, %s', async (_, { status, body, isRetried }) => {
    service.proxy.inject((exchange) => {
      if (isRetried && exchange.index % 2 === 0) exchange.reset();
      else exchange.reply(status, body);
    });
    const responses = paths.map((path) =>
      fetchApi(path + query({ survey: survey.name }), {
        key: survey.account.key,
        headers: { 'If-None-Match': '*' },
      }),
    );
    const message = 'The database cannot be reached at the moment. Please try again shortly.';
    for (const { status: received, headers, text } of await withoutRetries(
      Promise.all(responses),
    )) {
      const named = ['X-Error-Code', 'Retry-After'].map((name) => headers.get(name));
      expect([received, ...named, text]).toEqual([
        503,
        'database_unavailable',
        '5',
        errorBody(message),
      ]);
    }
    // each sends one at first
    expect(service.proxy.requests > paths.length).toBe(isRetried);
  });
});

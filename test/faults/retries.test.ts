import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { InjectedFault, SqlResult } from '../chaos/faults/fault.ts';
import { lies } from '../chaos/faults/lies.ts';
import { passing } from '../chaos/faults/visible.ts';
import { type Parameters, expectUnavailable, get } from '../api/requests.ts';
import { copyResponses } from '../support/data.ts';
import { download } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { randomFrom } from '../support/random.ts';
import {
  createPagedSurvey,
  firstAttempts,
  isPage,
  startFaultyService,
  withoutRetries,
} from './service.ts';

const service = await startFaultyService();
const survey = await createPagedSurvey();
// caches the key
const undisturbed = await download(survey, { parameters: { layout: 'wide' } });
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
await download(await createPagedSurvey());
service.proxy.inject();

/** SQL requests of an export at least, of a survey that was read before. */
const REQUESTS = 8;
/** Those of the script `chaos` that a retry overcomes, a response that never comes, and half a one. */
const faults: Pick<InjectedFault, 'inject'>[] = [
  ...passing,
  ...lies,
  { inject: (exchange) => exchange.hang() },
  { inject: (exchange) => exchange.cutAfter(({ length }) => length / 2, new Promise(() => {})) },
];
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
    const { complete, bytes } = await download(survey, { parameters: { layout } });
    expect({ complete, same: bytes.equals(files[layout]) }).toEqual({ complete: true, same: true });
    expect(position).toBeGreaterThanOrEqual((part + 1) * REQUESTS);
  },
);

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
])(
  'a permanent failure gets 503 before the first byte, %s',
  async (_, { status, body, isRetried }) => {
    service.proxy.inject();
    await get('/surveys', survey); // so that no request has to look up the key
    service.proxy.inject((exchange) => {
      if (isRetried && exchange.index % 2 === 0) exchange.reset();
      else exchange.reply(status, body);
    });
    const headers = { 'If-None-Match': '*' };
    const responses = paths.map((path) => get(path, survey, {}, { headers }));
    for (const response of await withoutRetries(Promise.all(responses)))
      expectUnavailable(response);
    // each sends one at first
    expect(service.proxy.requests > paths.length).toBe(isRetried);
  },
);

/** More than an attempt at a query may take that is no scan and no walk. */
const LONG_MS = 12_000;
const anyQuery = () => true;
const attempts: [
  what: string,
  path: string,
  parameters: Parameters,
  isHeld: (exchange: Exchange) => boolean,
  attempts: number,
][] = [
  ['a list', '/surveys', {}, anyQuery, 2],
  ['a page', '/responses', { pageSize: 1 }, isPage, 2],
  ['a walk', '/responses', { pageSize: 1, question_ref: 'q1' }, isPage, 1],
  ['a scan', '/responses/summary', {}, ({ query }) => query.includes('answered'), 1],
];

test('a query that takes 12 s is sent again, but not a scan or a walk', async () => {
  service.proxy.inject();
  const sent = attempts.map(async ([what, path, parameters, isHeld]) => {
    let count = 0;
    using _ = service.proxy.watch(what, async (exchange) => {
      if (isHeld(exchange) && count++ === 0) await sleep(LONG_MS);
    });
    const { status } = await get(path, survey, parameters, { headers: { 'Test-Trial': what } });
    return [what, status, count];
  });
  expect(await Promise.all(sent)).toEqual(
    attempts.map(([what, , , , count]) => [what, 200, count]),
  );
});

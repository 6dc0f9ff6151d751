import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, onTestFinished } from 'vitest';
import { limitIndex } from '../chaos/faults/lies.ts';
import { origin } from '../support/api.ts';
import { type TestSurvey, storeSurvey } from '../support/data.ts';
import { type Exchange, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { useStack } from '../support/stack-address.ts';
import { type StackOptions, startStack } from '../support/stack.ts';

/** Longer than a slow machine needs to overcome a fault, or a test holds a query. */
const EXPORT_RETRY_SECONDS = '90';

/** For exports that fail: the end of their retries comes soon. */
export const FEW_RETRIES = { 'Test-Retry-Seconds': '1' };

/** Starts a service for a test file, with a fault proxy between its Worker and the database. */
export async function startFaultyService(options: Omit<StackOptions, 'startProxy'> = {}) {
  let proxy!: FaultProxy;
  const stack = await startStack({
    entry: 'test/support/worker-under-faults.ts',
    ...options,
    vars: { EXPORT_RETRY_SECONDS: EXPORT_RETRY_SECONDS, ...options.vars },
    startProxy: async (endpoint) => (proxy = await startFaultProxy(endpoint)).url,
  });
  useStack(stack.address);
  afterEach(() => proxy.inject());
  afterAll(async () => {
    await proxy.close();
    await stack.stop();
  });
  return {
    proxy,
    stack,

    /**
     * Holds the queries of requests with these headers that `applies` is true for, until `release`
     * or the end of the test, as with {@link disableTimeouts}.
     */
    async hold(applies: (exchange: Exchange) => boolean) {
      await disableTimeouts(EXPORT_WAIT_MS);
      const trial = randomUUID();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      let held = 0;
      const watch = proxy.watch(trial, (exchange) => {
        if (!applies(exchange)) return undefined;
        held++;
        return released;
      });
      onTestFinished(() => {
        release();
        watch[Symbol.dispose]();
      });
      return { headers: { 'Test-Trial': trial }, held: () => held, release };
    },

    /**
     * Refuses results of responses of more than so many rows. @returns the pages that were not
     * refused, as they arrive
     */
    limitRows(most: number): Exchange[] {
      const pages: Exchange[] = [];
      let refused = 0;
      onTestFinished(() => expect(refused).toBeGreaterThan(0));
      proxy.inject((exchange) => {
        if (!isPage(exchange)) return;
        if (limitOf(exchange) <= most) {
          pages.push(exchange);
        } else {
          refused++;
          exchange.reply(507, 'response is too large (max is 67108864 bytes)');
        }
      });
      return pages;
    },
  };
}

/** Controls the Worker: see worker-under-faults.ts. */
const control = (headers: Record<string, string>) => fetch(origin(), { headers });

/** Moves the Worker's clock. */
export const forward = (ms: number) => control({ 'Test-Clock-Forward': String(ms) });

/** How long an export waits until others of its account have ended. */
const EXPORT_WAIT_MS = 5_000;

/**
 * Disables the Worker's time-outs of more than `longest` milliseconds until the end of the test, by
 * default all; delays between retries are shorter. A test can then hold a query for as long as its
 * own steps take on a busy machine: the Worker does not send the query again.
 */
export async function disableTimeouts(longest = 2_000): Promise<void> {
  const limit = (ms: number) => control({ 'Test-Longest-Timeout': String(ms) });
  await limit(longest);
  onTestFinished(async () => void (await limit(Infinity)));
}

/** More than the retries of a request take, those of an export excepted. */
const RETRIES_MS = 25_000;

/** Moves the Worker's clock by {@link RETRIES_MS}. */
export const endRetries = () => forward(RETRIES_MS);

/**
 * Waits for responses, and ends the retries of their requests every second: requests of an account
 * take turns, so some begin late.
 */
export async function withoutRetries<T>(responses: Promise<T>): Promise<T> {
  const pending = {};
  while ((await Promise.race([responses, sleep(1000, pending)])) === pending) await endRetries();
  return responses;
}

/** Sends a request to the API, whose client leaves when `until` ends. */
export async function leave(
  path: string,
  key: string,
  until: () => Promise<unknown>,
): Promise<void> {
  const { hostname, port } = new URL(origin());
  const client = connect(Number(port), hostname).on('error', () => {});
  client.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until();
  client.resetAndDestroy();
}

/** Recognises queries of responses, of either layout. */
export const isPage = ({ query }: Exchange): boolean =>
  /select \((?:parent_surveyid|userid)\)::text/.test(query);

export const limitOf = (exchange: Exchange): number =>
  Number(exchange.params[limitIndex(exchange)]);

/** Recognises an export's pages after the first, which decides the status. */
export const isLaterPage = (exchange: Exchange): boolean =>
  isPage(exchange) && exchange.query.includes(') > (');

/** Recognises the first attempt at each query. */
export function firstAttempts(): (exchange: Exchange) => boolean {
  const seen = new Set<string>();
  return ({ query, params }) => {
    // without the name of its result, which differs between attempts
    const statement = query.replaceAll(/\br[\da-f]{32}\b/g, '');
    return seen.size < seen.add(JSON.stringify([statement, params])).size;
  };
}

/** Rows of {@link createPagedSurvey}. */
export const PAGED_ROWS = 6000;

/**
 * Creates a survey whose export takes nine SQL requests, although it is small: because of its first
 * response, the export expects large rows, and reads few at a time. The wide file's takes more.
 *
 * @param firstBytes the length of that response
 */
export async function createPagedSurvey(firstBytes = 970_000): Promise<TestSurvey> {
  return storeSurvey(
    Array.from({ length: PAGED_ROWS }, (_, i) => ({
      form: i % 4,
      userid: `u${i % 130}`,
      timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 3)).toISOString(),
      question_ref: `q${i % 7}`,
      question_idx: i % 7,
      response: `"${i}", ${'x'.repeat(i === 0 ? firstBytes : 20)}`,
    })),
  );
}

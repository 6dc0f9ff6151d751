import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../src/db/errors.ts';
import { type RetryLimits, type RetryPolicy, retryLimits, withRetry } from '../../src/db/retry.ts';

const LIMITS: RetryLimits = { totalMs: 8_000, attemptMs: 1_000 };

type Read = (signal: AbortSignal) => Promise<string>;
const transient: Read = () => Promise.reject(new DatabaseError('transient', 'lost'));
/** Settles only when it is aborted. */
const endless: Read = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/**
 * Runs a read to its end. @returns `left`: timers, and listeners on the signal, which may live as
 * long as the isolate; and the pauses between attempts
 */
async function run(
  read: Read,
  limits = LIMITS,
  { client = new AbortController(), finishes = false } = {},
) {
  const start = Date.now();
  const pauses: number[] = [];
  const onPause = (isPausing: boolean) =>
    pauses.push(isPausing ? -Date.now() : Date.now() + (pauses.pop() ?? 0));
  const reading = withRetry(limits, client.signal, read, { finishes, onPause }).then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  await vi.runAllTimersAsync();
  const outcome = await reading;
  const left = vi.getTimerCount() + getEventListeners(client.signal, 'abort').length;
  return { ...outcome, left, pauses, ms: Date.now() - start };
}

test.each([
  [0, [50, 100, 200, 400, 800, 1000, 1000, 1000, 1000, 1000]],
  [1, [100, 200, 400, 800, 1600, 2000, 2000]],
])(
  'retries with growing delays until the limit, and fails with the last error: random %i',
  async (random, delays) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const times: number[] = [];
    const outcome = await run((signal) => {
      times.push(Date.now());
      return transient(signal);
    });
    expect(outcome).toMatchObject({ error: { message: 'lost' }, left: 0 });
    expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(delays);
    expect(outcome.pauses).toEqual(delays);
  },
);

test('fails if every attempt takes too long', async () => {
  const outcome = await run(endless);
  expect(outcome).toMatchObject({
    error: { kind: 'transient', message: 'no response within 1000 ms' },
    left: 0,
  });
});

test.each([
  ['during an attempt', endless],
  ['between attempts', transient],
])('ends when the client disconnects %s', async (_, read) => {
  const client = new AbortController();
  setTimeout(() => client.abort(new Error('left')), 10);
  const outcome = await run(read, LIMITS, { client });
  expect(outcome).toMatchObject({ error: { message: 'left' }, left: 0, ms: 10 });
});

test('an attempt that finishes is awaited although the client has left, and is the last one', async () => {
  const client = new AbortController();
  setTimeout(() => client.abort(new Error('left')), 10);
  const outcome = await run(endless, LIMITS, { client, finishes: true });
  expect(outcome).toMatchObject({ error: { message: 'left' }, left: 0, ms: LIMITS.attemptMs });
});

const policies: RetryPolicy[] = ['request', 'scan', 'export', 'key'];
test.each(policies)('a result that is lost is requested again: %s', async (policy) => {
  let attempts = 0;
  const lostOnce: Read = (signal) =>
    attempts++ === 0 ? endless(signal) : Promise.resolve('result');
  expect(await run(lostOnce, retryLimits()[policy])).toMatchObject({ value: 'result', left: 0 });
});

test('EXPORT_RETRY_SECONDS is whole seconds', () => {
  expect(['', '0', '99999'].map((seconds) => retryLimits(seconds).export.totalMs)).toEqual([
    60_000, 0, 99_999_000,
  ]);
  for (const seconds of ['60s', '-1', '1e3', ' 5', '100000']) {
    const message = `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`;
    expect(() => retryLimits(seconds)).toThrow(message);
  }
});

import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../src/db/errors.ts';
import { withRetry } from '../../src/db/retry.ts';

const BUDGET = { totalMs: 8_000, attemptMs: 1_000 };

type Read = (signal: AbortSignal) => Promise<string>;
const transient: Read = () => Promise.reject(new DatabaseError('transient', 'lost'));
/** Ends only when it is called off, as fetch does. */
const endless: Read = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('called off')));
  });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Runs it to its end. Neither a timer nor a listener may be left, on a signal that may live as long as the isolate. */
async function run(read: Read, client = new AbortController()) {
  const start = Date.now();
  const reading = withRetry(BUDGET, client.signal, read).then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  await vi.runAllTimersAsync();
  const outcome = await reading;
  const left = vi.getTimerCount() + getEventListeners(client.signal, 'abort').length;
  return { ...outcome, left, ms: Date.now() - start };
}

test('a read is tried again after transient failures, and what it reads is returned', async () => {
  let attempts = 0;
  const outcome = await run((signal) => (++attempts < 4 ? transient(signal) : Promise.resolve('read')));
  expect(outcome).toMatchObject({ value: 'read', left: 0 });
  expect(attempts).toBe(4);
});

test('a read is not tried again after another failure', async () => {
  let attempts = 0;
  const error = new DatabaseError('unavailable', 'no');
  const outcome = await run(() => {
    attempts++;
    return Promise.reject(error);
  });
  expect(outcome).toMatchObject({ error, left: 0 });
  expect(attempts).toBe(1);
});

test('a read is tried for as long as its budget lasts, and then fails as it failed last', async () => {
  const { ms, ...outcome } = await run(transient);
  expect(outcome).toMatchObject({ error: { message: 'lost' }, left: 0 });
  expect(ms).toBeGreaterThan(BUDGET.totalMs - 2_000);
  expect(ms).toBeLessThanOrEqual(BUDGET.totalMs);
});

test('a read that takes too long is called off, and tried again', async () => {
  let attempts = 0;
  const outcome = await run((signal) => (++attempts === 1 ? endless(signal) : Promise.resolve('read')));
  expect(outcome).toMatchObject({ value: 'read', left: 0 });
});

test('a read that takes too long each time fails with that', async () => {
  const outcome = await run(endless);
  expect(outcome).toMatchObject({ error: { kind: 'transient', message: 'no answer within 1000 ms' }, left: 0 });
});

test.each([
  ['while it is under way', endless],
  ['before it is tried again', transient],
])('a read ends with its client, %s', async (_, read) => {
  const client = new AbortController();
  setTimeout(() => client.abort(new Error('left')), 10);
  const outcome = await run(read, client);
  expect(outcome).toMatchObject({ error: { message: 'left' }, left: 0, ms: 10 });
});

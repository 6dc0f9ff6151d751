import type { QueryOptions } from './client.ts';
import { DatabaseError, failureOf, isTooLarge } from './errors.ts';

/**
 * How long a query is retried:
 * - `request` while a client waits for a status;
 * - `scan` likewise, for a query that reads the whole selection;
 * - `export` during a transfer, which a restart of the database should not abort;
 * - `key` for authentication, which many requests may wait for;
 * - `probe` not at all.
 */
export type RetryPolicy = keyof ReturnType<typeof retryLimits>;

/**
 * How long a query may be retried, and how long one attempt may take; milliseconds. An attempt at a
 * page takes far less than the limit, so that a response that is lost on the way is requested
 * again.
 */
export interface RetryLimits {
  readonly totalMs: number;
  readonly attemptMs: number;
}

/** A little less than the `statement_timeout` of the Worker’s role. */
const SCAN_ATTEMPT_MS = 60_000;

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

/** @param seconds EXPORT_RETRY_SECONDS. @throws DatabaseError `defect` if it is invalid */
export function retryLimits(seconds = '') {
  if (!/^\d{0,5}$/.test(seconds)) {
    throw new DatabaseError(
      'defect',
      `EXPORT_RETRY_SECONDS must be whole seconds, from 0 to 99999, not "${seconds}"`,
    );
  }
  return {
    request: { totalMs: 20_000, attemptMs: 8_000 }, // a suspended compute may take seconds to wake
    // room for one attempt after a lost result
    scan: { totalMs: SCAN_ATTEMPT_MS + 5_000, attemptMs: SCAN_ATTEMPT_MS },
    export: { totalMs: 1000 * Number(seconds || '60'), attemptMs: 15_000 },
    key: { totalMs: 8_000, attemptMs: 5_000 },
    probe: { totalMs: 0, attemptMs: 8_000 },
  };
}

/**
 * Runs a read, and retries it after a transient failure with exponential backoff and jitter (of
 * half the delay), until the next delay would exceed the limit. A result that is too large is not
 * read, so it may be another query's: it is requested once more.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 *
 * @param read takes a signal that is aborted when `signal` is, or when the attempt has taken too
 * long
 * @param finishes whether an attempt continues when `signal` is aborted
 * @param canShrink whether the caller requests fewer rows instead if a result is too large
 * @param onPause is called with true before the wait for another attempt, and with false after it
 * @throws DatabaseError of the last attempt; `transient` means that the limit is used up
 * @throws the signal's reason when `signal` is aborted
 */
export async function withRetry<T>(
  { totalMs, attemptMs }: RetryLimits,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
  {
    finishes,
    onPause,
    canShrink = false,
  }: Pick<QueryOptions, 'finishes' | 'canShrink' | 'onPause'>,
): Promise<T> {
  const deadline = Date.now() + totalMs;
  const attemptSignal = finishes ? NEVER : signal;
  let isFinal = canShrink;
  for (let ceiling = FIRST_DELAY_MS; ; ceiling = Math.min(2 * ceiling, MAX_DELAY_MS)) {
    signal.throwIfAborted();
    try {
      return await attempt(attemptMs, attemptSignal, read);
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      const isLarge = isTooLarge(failure);
      const isRepeated = isLarge ? !isFinal : failure.kind === 'transient';
      if (!isRepeated || Date.now() + ceiling > deadline) throw failure;
      isFinal ||= isLarge;
    }

    onPause?.(true);
    await attempt(ceiling / 2 + (Math.random() * ceiling) / 2, signal, untilAborted);
    onPause?.(false);
  }
}

const NEVER = new AbortController().signal;

/**
 * Runs one attempt, and removes its listener from the signal, which may live as long as the
 * isolate. workerd keeps a signal made by `AbortSignal.any` for as long as its sources live.
 */
async function attempt<T>(
  ms: number,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const attemptAbort = new AbortController();
  const onAbort = () => attemptAbort.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  let timedOut: DatabaseError | undefined;
  const timer = setTimeout(() => {
    timedOut = new DatabaseError('transient', `no response within ${ms} ms`);
    attemptAbort.abort(timedOut);
  }, ms);
  try {
    return await read(attemptAbort.signal);
  } catch (error) {
    throw timedOut ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Does nothing: a pause is an attempt that ends with its time. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', resolve));

import { DatabaseError, failureOf } from './errors.ts';

/** How long a query is tried again, and how long one try may take; milliseconds. */
export interface RetryBudget {
  readonly totalMs: number;
  readonly attemptMs: number;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

/**
 * Runs a read, and runs it again after a transient failure: with exponential backoff and jitter (of half the delay), until
 * the next delay would pass the budget.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 *
 * @param read gets a signal that is aborted when `signal` is or when this attempt has taken too long
 * @param retrying is called before each further attempt
 * @throws DatabaseError of the last attempt; `transient` then means that the budget is used up
 * @throws the signal's reason when `signal` is aborted
 */
export async function withRetry<T>(
  budget: RetryBudget,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
  retrying: () => void = () => {},
): Promise<T> {
  const deadline = Date.now() + budget.totalMs;
  for (let ceiling = FIRST_DELAY_MS; ; ceiling = Math.min(2 * ceiling, MAX_DELAY_MS)) {
    signal.throwIfAborted();
    try {
      return await attempt(budget.attemptMs, signal, read);
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      if (failure.kind !== 'transient' || Date.now() + ceiling > deadline) throw failure;
      await delay(ceiling / 2 + (Math.random() * ceiling) / 2, signal);
      retrying();
    }
  }
}

/**
 * One try. It leaves nothing on the signal, which may live as long as the isolate: what `AbortSignal.any` makes, workerd keeps
 * for as long as the signals live that it was made of.
 */
async function attempt<T>(ms: number, signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  signal.addEventListener('abort', end);
  let late: DatabaseError | undefined;
  const timer = setTimeout(() => {
    late = new DatabaseError('transient', `no answer within ${ms} ms`);
    ending.abort(late);
  }, ms);
  try {
    return await read(ending.signal);
  } catch (error) {
    throw late ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

async function delay(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const end = () => resolve();
  signal.addEventListener('abort', end);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
}

import { once } from 'node:events';
import { Failure } from './failure.ts';

/** How long a request waits for a turn, in milliseconds. */
const WAIT_MS = 10_000;

/**
 * Takes a turn, which lasts until the signal is aborted and `until` is resolved.
 *
 * @throws Failure 503 when none has come within 10 s, and the signal's reason when it is aborted
 * before
 */
export type TakeTurn = (signal: AbortSignal, until?: Promise<void>) => Promise<void>;

/**
 * A semaphore: `count` turns at a time, in the order in which they were asked for. @param what they
 * are, for the message of a 503
 */
export function turns(count: number, what: string): TakeTurn {
  let free = count;
  const waiting = new Set<() => void>();

  function end(): void {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else {
      free++;
    }
  }

  async function wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);

    AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]).addEventListener('abort', () => {
      waiting.delete(resolve);
      const message = `${what} are in use, and none became free within ${WAIT_MS / 1000} s`;
      // without effect if its turn has come
      reject(signal.aborted ? signal.reason : new Failure(503, message));
    });

    await promise;
  }

  return async (signal, until) => {
    signal.throwIfAborted();
    const ended = Promise.all([once(signal, 'abort'), until]);

    if (free > 0) free--;
    else await wait(signal);

    void ended.then(end);
    signal.throwIfAborted();
  };
}

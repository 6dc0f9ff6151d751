import { once } from 'node:events';
import { Failure } from './failure.ts';

/** How long a request waits for a turn, in milliseconds. */
const WAIT_MS = 10_000;
/** How many may wait: each has up to 128 KiB of its request in memory. */
const MOST_WAITING = 1_000;

/**
 * Takes `size` turns, which last until the signal is aborted and `until` is resolved.
 *
 * @throws Failure 503 when none has come within 10 s, or at once if many wait; and the signal's
 * reason when it is aborted before
 */
export type TakeTurn = (signal: AbortSignal, size: number, until?: Promise<void>) => Promise<void>;

/**
 * A semaphore: `count` turns at a time, in the order in which they were asked for. @param what they
 * are, for the message of a 503
 */
export function turns(count: number, what: string): TakeTurn {
  let free = count;
  const waiting = new Map<() => void, number>();

  function end(ended: number): void {
    free += ended;
    for (const [next, size] of waiting) {
      if (size > free) return;
      free -= size;
      waiting.delete(next);
      next();
    }
  }

  return async (signal, size, until) => {
    signal.throwIfAborted();
    const ended = Promise.all([once(signal, 'abort'), until]);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waitMs = waiting.size < MOST_WAITING ? WAIT_MS : 0;
    waiting.set(resolve, size);

    AbortSignal.any([signal, AbortSignal.timeout(waitMs)]).addEventListener('abort', () => {
      waiting.delete(resolve);
      end(0); // a smaller one may fit
      const message = `${what} are in use, and none became free within ${waitMs / 1000} s`;
      // without effect if its turn has come
      reject(signal.aborted ? signal.reason : new Failure(503, message));
    });

    end(0);
    await promise;
    void ended.then(() => end(size));
  };
}

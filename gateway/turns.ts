import { Failure } from './failure.ts';

/** How long a request waits for a turn, in milliseconds. */
const WAIT_MS = 10_000;

/**
 * Takes a turn.
 *
 * @returns what ends the turn; to be called once
 * @throws Failure 503 when none has come within 10 s, and the signal's reason when it is aborted before
 */
export type TakeTurn = (signal: AbortSignal) => Promise<() => void>;

/** A semaphore: `count` turns at a time, in the order in which they were asked for. @param what they are, for the message of a 503 */
export function turns(count: number, what: string): TakeTurn {
  let free = count;
  const waiting: (() => void)[] = [];
  const end = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };

  function wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push(resolve);
    AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]).addEventListener('abort', () => {
      const index = waiting.indexOf(resolve);
      if (index < 0) return; // its turn has come
      waiting.splice(index, 1);
      const message = `${what} are in use, and none became free within ${WAIT_MS / 1000} s`;
      reject(signal.aborted ? signal.reason : new Failure(503, message));
    });
    return promise;
  }

  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await wait(signal);
    if (!signal.aborted) return end;
    end();
    throw signal.reason;
  };
}

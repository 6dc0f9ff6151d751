import { Failure } from './failure.ts';

/** How long a request waits for a turn, in milliseconds. */
const WAIT_MS = 10_000;

/** Turns of which a number can be taken at a time, in the order in which they were asked for. */
export class Semaphore {
  #free: number;
  readonly #what: string;
  readonly #waiting: (() => void)[] = [];

  /** @param what the turns are, for the message when none comes */
  constructor(count: number, what: string) {
    this.#free = count;
    this.#what = what;
  }

  /**
   * Takes a turn.
   *
   * @returns what ends the turn; to be called once
   * @throws Failure 503 when none has come within 10 s, and the signal's reason when it is aborted before
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const end = () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    };
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#next(signal);
    if (!signal.aborted) return end;
    end();
    throw signal.reason;
  }

  #next(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]).addEventListener('abort', () => {
      const index = this.#waiting.indexOf(resolve);
      if (index < 0) return; // its turn has come
      this.#waiting.splice(index, 1);
      const message = `${this.#what} are in use, and none became free within ${WAIT_MS / 1000} s`;
      reject(signal.aborted ? signal.reason : new Failure(503, message));
    });
    return promise;
  }
}

import { Failure } from './failure.ts';

/** How long a request waits for a turn, in milliseconds. */
const WAIT_MS = 10_000;

/** Turns of which a fixed number can be taken at a time, in the order in which they were asked for. */
export class Semaphore {
  #free: number;
  readonly #what: string;
  readonly #waiting: (() => void)[] = [];

  /** @param what the turns are, in words: for the message when none comes */
  constructor(count: number, what: string) {
    this.#free = count;
    this.#what = what;
  }

  /**
   * Takes a turn.
   *
   * @returns what ends the turn; must be called once
   * @throws Failure 503 when none has come within 10 s
   * @throws the signal's reason when it is aborted before
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#next(signal);
    return () => this.#release();
  }

  async #next(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const leave = (reason: unknown) => {
      const index = this.#waiting.indexOf(resolve);
      if (index < 0) return; // its turn has come
      this.#waiting.splice(index, 1);
      reject(reason);
    };
    const message = `${this.#what} are in use, and none became free within ${WAIT_MS / 1000} s`;
    const timer = setTimeout(() => leave(new Failure(503, message)), WAIT_MS);
    const abort = () => leave(signal.reason);
    signal.addEventListener('abort', abort);
    await promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlResult } from './fault.ts';

/** How long a result waits for another one. */
const SWAP_MS = 500;

/** Exchanges a result for the next one that arrives. */
export class Swap {
  #waiting: { readonly own: SqlResult; readonly resolve: (other: SqlResult) => void } | undefined;

  /** @returns undefined if no other result arrives in time */
  async exchange(own: SqlResult): Promise<SqlResult | undefined> {
    const other = this.#waiting;
    this.#waiting = undefined;
    if (other) {
      other.resolve(own);
      return other.own;
    }
    const { promise, resolve } = Promise.withResolvers<SqlResult>();
    const waiting = { own, resolve };
    this.#waiting = waiting;
    const found = await Promise.race([promise, sleep(SWAP_MS, undefined)]);
    if (this.#waiting === waiting) this.#waiting = undefined;
    return found;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../../support/fault-proxy.ts';
import type { Random } from '../../support/random.ts';

/** A fault of one request from the Worker to its database. */
export interface InjectedFault {
  readonly name: string;
  readonly inject: (exchange: Exchange, random: Random, others: Others) => Promise<void> | void;
  /** Error statuses that the service may respond with. If there are none, a retry helps and the response must be complete. */
  readonly refusals: readonly number[];
  /** Needs the results of the same request of another account, `before` or `meanwhile`. */
  readonly other?: 'before' | 'meanwhile' | undefined;
}

/** The result of a query, as the SQL-over-HTTP endpoint sends it. */
export interface SqlResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number;
}

/** Other results, which can take the place of one. */
export interface Others {
  /** Those that the request has received before. */
  readonly earlier: readonly SqlResult[];
  /** Those of the same request of another account. */
  readonly foreign: readonly SqlResult[];
  readonly swap: Swap;
  /** Reports that the fault has changed nothing. */
  readonly unaltered: () => void;
}

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

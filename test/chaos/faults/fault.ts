import type { Exchange } from '../../support/fault-proxy.ts';
import type { Random } from '../../support/random.ts';

/** A fault of one request from the Worker to its database. */
export interface InjectedFault {
  readonly name: string;
  readonly inject: (exchange: Exchange, random: Random, others: Others) => Promise<void> | void;
  /**
   * Error statuses that the service may respond with. If there are none, a retry helps and the
   * response must be complete.
   */
  readonly refusals?: readonly number[];
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
  /** Reports that the fault has changed nothing. */
  readonly unaltered: () => void;
}

import type { Exchange } from '../../support/fault-proxy.ts';
import type { Random } from '../model/random-data.ts';

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
  /** Exchanges a result for the next one that arrives; undefined if none does in time. */
  readonly swap: (own: SqlResult) => Promise<SqlResult | undefined>;
  /** Reports that the fault has changed nothing. */
  readonly unaltered: () => void;
}

import type { StoredApiKey } from '../db/accounts.ts';
import type { Connection } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import type { Env } from '../env.ts';
import type { RequestSlots } from '../limits/slots.ts';
import type { RequestStats } from './request-stats.ts';

/** The account whose data a request may read, and the request's key. */
export interface Account extends Omit<StoredApiKey, 'accountId'> {
  /** `users.id` */
  readonly id: string;
  /**
   * What its requests are counted by. The limited keys of an account are held by others, so they
   * count together as another account.
   */
  readonly countedAs: string;
}

/** The types of Hono's context. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    stats: RequestStats;
    /** For queries that are no account's. */
    connection: Connection;
    /** For those of the account. Set with `slots`. */
    db: Database;
    /**
     * Aborted when the client disconnects, or by `requestAbort`. Cancels all work for the request.
     */
    signal: AbortSignal;
    /** Aborts the work for the request when it is no longer needed. */
    requestAbort: AbortController;
    /** Set by authentication, which applies under the API's base path. */
    account: Account;
    /** Likewise. What the request holds, until its end. */
    slots: RequestSlots;
    /**
     * The names of the query parameters that the endpoint does not know. Set by endpoints that need
     * a key.
     */
    ignored: readonly string[];
  };
}

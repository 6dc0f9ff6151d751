import type { Database } from '../db/client.ts';
import type { Env } from '../env.ts';
import type { RequestStats } from './request-stats.ts';

/** The account whose data a request may read. */
export interface Account {
  /** `users.id` */
  readonly id: string;
  readonly email: string;
}

/** The types of Hono's context. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    stats: RequestStats;
    db: Database;
    /** Aborted when the client disconnects, or by `ending`. Cancels all work for the request. */
    signal: AbortSignal;
    /** Abort this when the work for the request is no longer needed. */
    ending: AbortController;
    /** Set by authentication; only under the API's base path. */
    account: Account;
    /** Likewise. Checks the request's key again. @throws RevokedKeyError if it was revoked or has expired */
    checkKey: () => Promise<void>;
  };
}

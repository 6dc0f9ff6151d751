import type { Database } from '../db/client.ts';
import type { Env } from '../env.ts';
import type { RequestStats } from './request-stats.ts';

/** The account whose data a request may read. */
export interface Account {
  /** `users.id` */
  readonly id: string;
  readonly email: string;
  /** When the request's key expires: milliseconds since 1970; null for a key that does not expire. */
  readonly expires: number | null;
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
    /** The names of the query parameters that the endpoint does not know. Set by endpoints that need a key. */
    ignored: readonly string[];
  };
}

import type { Database } from '../db/client.ts';
import type { Env } from '../env.ts';
import type { RequestStats } from './request-stats.ts';

/** Whose data a request may see. */
export interface Account {
  /** `users.id` */
  readonly id: string;
  readonly email: string;
}

/** What Hono's context carries through a request. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    stats: RequestStats;
    db: Database;
    /** Aborted when the client has gone, or nothing more is wanted: what a request has begun goes by it. */
    signal: AbortSignal;
    /** To be aborted as soon as nothing more is wanted. */
    ending: AbortController;
    /** Set under the API's base path only, by authentication. */
    account: Account;
  };
}

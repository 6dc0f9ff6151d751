import type { DatabaseEnv } from './db/endpoint.ts';

/** The Worker's bindings, variables and secrets: see wrangler.toml. */
export interface Env extends DatabaseEnv {
  /** Read-through cache of the table `api_keys`: see auth/key-cache.ts. */
  readonly API_KEYS: KVNamespace;
  /** Requests per account. */
  readonly ACCOUNT_LIMIT: RateLimit;
  /**
   * Requests whose key is invalid or not cached, and, counted apart, health checks; per address.
   */
  readonly FAILURE_LIMIT: RateLimit;
  /** The files of the page and the API reference, built from site/. */
  readonly ASSETS: Fetcher;
  /** `off`: `/` is not found. */
  readonly PAGE?: string;
}

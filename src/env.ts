/** What the Worker is given: see wrangler.toml. */
export interface Env {
  /** Secret: `postgresql://` URL of the role `survey_export_worker`. */
  readonly DATABASE_URL: string;
  /** Where SQL goes over HTTP. Unset in production, where the driver derives Neon's address from DATABASE_URL. */
  readonly SQL_ENDPOINT?: string;
  /** Read-through cache of the table `api_keys`: see auth/key-cache.ts. */
  readonly API_KEYS: KVNamespace;
}

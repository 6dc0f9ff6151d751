/** Counts the queries of one request. Times are milliseconds; on Cloudflare the clock advances only at I/O. */
export class QueryStats {
  /** HTTP requests to the database. */
  requests = 0;
  /** Requests among them that repeat a failed one. */
  retries = 0;

  #elapsed: number | undefined;
  #running = 0;
  #runningSince = 0;

  /** The time during which at least one query was running; undefined before the first. */
  get elapsedMs(): number | undefined {
    return this.#elapsed;
  }

  /** Runs a query and adds to {@link elapsedMs}. */
  async time<T>(query: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#runningSince = performance.now();
    try {
      return await query();
    } finally {
      if (--this.#running === 0) this.#elapsed = (this.#elapsed ?? 0) + performance.now() - this.#runningSince;
    }
  }
}

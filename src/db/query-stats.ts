/** Measures the time of work. On Cloudflare, the clock advances only at I/O. */
export class Stopwatch {
  /** The milliseconds during which some work was running; undefined before the first. */
  elapsedMs: number | undefined;
  #running = 0;
  #runningSince = 0;

  /** Runs work and adds to {@link elapsedMs}. */
  async time<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#runningSince = performance.now();
    try {
      return await work();
    } finally {
      if (--this.#running === 0)
        this.elapsedMs = (this.elapsedMs ?? 0) + performance.now() - this.#runningSince;
    }
  }
}

/** Counts and measures the queries of one request. */
export class QueryStats extends Stopwatch {
  /** HTTP requests to the database. */
  requests = 0;
  /** Requests among them that repeat a failed one. */
  retries = 0;
}

/** How much the cache of keys knew: an entry that was believed, none, or one too old to be believed without asking. */
export type KeyCacheOutcome = 'hit' | 'miss' | 'stale';

/** How a body's transfer ended. */
export type TransferEnd =
  | { readonly end: 'complete' | 'client left' }
  /** `reason`: the kind of failure, never its words, which may quote data. */
  | { readonly end: 'failed'; readonly reason: string };

/**
 * What one request has cost so far: for its line in the log (request-log.ts) and for `Server-Timing`. An export adds to it
 * once a page, or once a query, and never once a row.
 *
 * Times are milliseconds. On Cloudflare the clock advances at I/O only: what the Worker computes takes no time by it.
 */
export class RequestStats {
  /** Of the body: responses, surveys or form versions. */
  rows = 0;
  /** Of the body, before compression, that were handed to the client. */
  bytes = 0;
  /** HTTP requests to the database. */
  sqlRequests = 0;
  /** Those among them that repeat one which failed. */
  retries = 0;
  keyCache: KeyCacheOutcome | null = null;
  /** The account and the key, once they are known. */
  accountId: string | null = null;
  keyId: string | null = null;
  /** Set when the body is streamed, and settled at its end; never rejects. */
  transfer: Promise<TransferEnd> | undefined;

  readonly #started = performance.now();
  #auth: number | undefined;
  #database: number | undefined;
  #waiting = 0;
  #waitingSince = 0;

  /** Since the request came. */
  get elapsedMs(): number {
    return Math.round(performance.now() - this.#started);
  }

  /** Runs the work that finds out whose request this is, and notes how long it takes. */
  async timeAuth<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#auth = performance.now() - started;
    }
  }

  /** Runs a query. Of queries side by side, the time during which any of them is under way counts once. */
  async timeQuery<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#waitingSince = performance.now();
    try {
      return await work();
    } finally {
      if (--this.#waiting === 0) this.#database = (this.#database ?? 0) + performance.now() - this.#waitingSince;
    }
  }

  /** The header `Server-Timing`, for now: https://www.w3.org/TR/server-timing/ */
  get serverTiming(): string {
    const total = this.elapsedMs; // in whole milliseconds like its parts, none of which is longer
    const parts = Object.entries({ auth: this.#auth, db: this.#database })
      .filter((part): part is [string, number] => part[1] !== undefined)
      .map(([name, ms]) => `${name};dur=${Math.round(ms)}`);
    return [...parts, `total;dur=${total}`].join(', ');
  }
}

import { QueryStats } from '../db/query-stats.ts';

/** What KV had for the key: a fresh entry (hit), none (miss), or a stale one that had to be checked. */
export type KeyCacheOutcome = 'hit' | 'miss' | 'stale';

/** How the transfer of a body ended. */
export type TransferEnd =
  | { readonly end: 'complete' | 'client left' }
  /** `reason`: the kind of failure, never the error's message, which may quote data. */
  | { readonly end: 'failed'; readonly reason: string };

/** What a request has used so far, for its log line and `Server-Timing`. Exports update it once per page or query. */
export class RequestStats {
  /** Responses, surveys, form versions, questions or days sent. */
  rows = 0;
  /** Bytes of the body, before compression, that were written to the client. */
  bytes = 0;
  readonly queries = new QueryStats();
  keyCache: KeyCacheOutcome | null = null;
  /** Set if the body is streamed. Resolves at the end of the transfer; never rejects. */
  transfer: Promise<TransferEnd> | undefined;

  readonly #started = performance.now();
  #authMs: number | undefined;

  /** Whole milliseconds since the request arrived. */
  get elapsedMs(): number {
    return Math.round(performance.now() - this.#started);
  }

  /** Runs authentication and measures how long it takes. */
  async timeAuth<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#authMs = performance.now() - started;
    }
  }

  /** The current value of the header `Server-Timing`: https://www.w3.org/TR/server-timing/ */
  get serverTiming(): string {
    const total = this.elapsedMs; // rounded like its parts, so that none exceeds it
    const parts = Object.entries({ auth: this.#authMs, db: this.queries.elapsedMs })
      .filter((part): part is [string, number] => part[1] !== undefined)
      .map(([name, ms]) => `${name};dur=${Math.round(ms)}`);
    return [...parts, `total;dur=${total}`].join(', ');
  }
}

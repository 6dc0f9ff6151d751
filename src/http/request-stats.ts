import { QueryStats, Stopwatch } from '../db/query-stats.ts';

/** How the transfer of a body ended. */
export type TransferEnd =
  | { readonly end: 'complete' | 'client left' }
  /** `reason`: the kind of failure, never the error's message, which may quote data. */
  | { readonly end: 'failed'; readonly reason: string };

/** What a request has used so far, for its log line and `Server-Timing`. */
export class RequestStats {
  /** Responses, surveys, form versions, questions or days sent. */
  rows = 0;
  /** Bytes of the body, before compression, that were written to the client. */
  bytes = 0;
  readonly auth = new Stopwatch();
  readonly queries = new QueryStats();
  /**
   * What KV had for the key: a fresh entry (hit), none (miss), or a stale one that had to be
   * checked.
   */
  keyCache: 'hit' | 'miss' | 'stale' | null = null;
  /** Set if the body is streamed. Resolves at the end of the transfer; never rejects. */
  transfer: Promise<TransferEnd> | undefined;

  readonly #started = performance.now();

  /** Whole milliseconds since the request arrived. */
  get elapsedMs(): number {
    return Math.round(performance.now() - this.#started);
  }

  /** The current value of the header `Server-Timing`: https://www.w3.org/TR/server-timing/ */
  get serverTiming(): string {
    const times = { auth: this.auth.elapsedMs, db: this.queries.elapsedMs, total: this.elapsedMs };

    return Object.entries(times)
      .flatMap(([name, ms]) => (ms === undefined ? [] : [`${name};dur=${Math.round(ms)}`]))
      .join(', ');
  }
}

import { type StoredApiKey, findApiKeys } from '../db/accounts.ts';
import type { Database } from '../db/client.ts';
import { logFailure } from '../http/log.ts';
import type { Allowance } from './allowance.ts';
import type { Verdict } from './verdicts.ts';
import { withTimeout } from './timeout.ts';

/** The request that asks the database for all who are waiting. */
export interface Leader {
  readonly db: Database;
  /** For the log. */
  readonly requestId: string;
  /** Takes work that may outlast the response. */
  readonly defer: (work: Promise<unknown>) => void;
  /** Gets the verdicts, by hash, before those who wait for them do. */
  readonly decided: (verdicts: ReadonlyMap<string, Verdict>) => void;
}

interface Waiting {
  readonly hash: string;
  outcome?: { readonly verdict: Verdict } | { readonly error: unknown };
}

/** More wait for the next query: this many hashes are some 32 kB. */
const MAX_BATCH = 500;
/** Seconds that a flood may make others wait; beyond that they had better come again. */
const MAX_WAITING = 4 * MAX_BATCH;
/** After a query that failed, the next may be tried by those who can do without an answer. */
const TRY_AGAIN_MS = 5_000;
/** Longer than a query is tried: the request that asked for everybody must have been cut off. */
const TAKE_OVER_MS = 30_000;

/**
 * Look-ups of keys in the database, of one isolate. However many requests ask for however many keys, one query is under
 * way at a time: what comes meanwhile goes into the next one together.
 *
 * The query runs as part of one of the waiting requests, as work in workerd has to; the others wait for its promise, and
 * take over if that request does not live to see the end.
 */
export class LookUps {
  readonly #waiting = new Map<string, Waiting>();
  readonly #unknown: Allowance | undefined;
  #query: { readonly done: Promise<void>; readonly started: number } | undefined;
  #failedAt: number | undefined;

  /** @param unknown paces the queries that meet a key which is unknown; without it nothing waits */
  constructor(unknown?: Allowance) {
    this.#unknown = unknown;
  }

  /** Whether the next query has to wait, because so many keys were unknown. */
  get isPaced(): boolean {
    return this.#pauseMs() > 0;
  }

  get isFull(): boolean {
    return this.#waiting.size >= MAX_WAITING;
  }

  /** Whether the last query failed. */
  get isFailing(): boolean {
    return this.#failedAt !== undefined;
  }

  /** Whether the last query failed so long ago that it is time for another. */
  get isDue(): boolean {
    return this.#failedAt !== undefined && Math.abs(Date.now() - this.#failedAt) >= TRY_AGAIN_MS;
  }

  /**
   * Asks the database for a key, together with everybody else who is asking.
   *
   * @throws DatabaseError when the database cannot answer
   */
  async ask(hash: string, leader: Leader): Promise<Verdict> {
    const waiting = this.#waiting.get(hash) ?? { hash };
    this.#waiting.set(hash, waiting);
    while (!waiting.outcome) {
      const query = (this.#query ??= this.#start(leader));
      // The timer is this request's own: workerd takes a request that waits for nothing of its own for hung.
      await withTimeout(query.done, Math.max(0, query.started + TAKE_OVER_MS - Date.now()), () => this.#end(query));
    }
    if ('error' in waiting.outcome) throw waiting.outcome.error;
    return waiting.outcome.verdict;
  }

  #start(leader: Leader): { done: Promise<void>; started: number } {
    const done = this.#askForAll(leader).finally(() => this.#end(query));
    const query = { done, started: Date.now() };
    leader.defer(done); // others wait for it: it has to go on when this request's client has gone
    return query;
  }

  #end(query: object): void {
    if (this.#query === query) this.#query = undefined;
  }

  /** Never rejects: a failure is the outcome of all that were asked for. */
  async #askForAll({ db, requestId, decided }: Leader): Promise<void> {
    await sleep(this.#pauseMs());
    const batch = [...this.#waiting.values()].slice(0, MAX_BATCH);
    const checked = Date.now();
    try {
      const keys = await findApiKeys(
        db,
        batch.map(({ hash }) => hash),
      );
      this.#failedAt = undefined;
      if (keys.size < batch.length) this.#unknown?.spend();
      const verdicts = new Map(batch.map(({ hash }) => [hash, verdictOf(keys.get(hash), checked)]));
      decided(verdicts);
      for (const waiting of batch) waiting.outcome = { verdict: verdicts.get(waiting.hash) as Verdict };
    } catch (error) {
      this.#failedAt = Date.now();
      logFailure('key look-up failed', { requestId, keys: batch.length, error: String(error) });
      for (const waiting of batch) waiting.outcome = { error };
    }
    for (const waiting of batch) {
      if (this.#waiting.get(waiting.hash) === waiting) this.#waiting.delete(waiting.hash);
    }
  }

  #pauseMs(): number {
    return this.#unknown?.waitMs() ?? 0;
  }
}

const verdictOf = (key: StoredApiKey | undefined, checked: number): Verdict => ({ key, checked });

function sleep(ms: number): Promise<void> | undefined {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
}

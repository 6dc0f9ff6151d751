import { type StoredApiKey, findApiKeys } from '../db/accounts.ts';
import type { Database } from '../db/client.ts';
import { Allowance } from './allowance.ts';
import { withTimeout } from './timeout.ts';

/** What a request lends to a look-up that other requests may be waiting for as well. */
export interface Lender {
  readonly db: Database;
  /** Takes work that may outlast the response. */
  readonly defer: (work: Promise<unknown>) => void;
  /** Keeps the keys that were found where other isolates find them. Never rejects. */
  readonly keep: (keys: ReadonlyMap<string, StoredApiKey>, checked: number) => Promise<void>;
}

/** What the database said of a hash. */
export interface Answer {
  /** Undefined for a key that is unknown, revoked or expired. */
  readonly key: StoredApiKey | undefined;
  /** When it was asked; milliseconds since 1970. */
  readonly checked: number;
  /** The {@link LookUps.moment} at which the key was kept; undefined until then. */
  kept?: number;
}

interface Waiting {
  readonly hash: string;
  outcome?: { readonly answer: Answer } | { readonly error: unknown };
}

/** Queries in a row that may find a key unknown, and how long it takes until the next may. */
const UNKNOWN_BURST = 20;
const UNKNOWN_EVERY_MS = 1_000;
/** More wait for the next query: this many hashes are some 32 kB. */
const MAX_BATCH = 500;
/** Answers remembered, some 200 bytes each; the oldest give way. */
const MAX_ANSWERS = 5_000;
/** For how long a hash that the database did not know is refused without asking again. */
const UNKNOWN_FOR_MS = 60_000;
/** For how long the database counts as unreachable to those who can do without it. */
const FAILED_FOR_MS = 5_000;
/** Longer than a query is tried again: the request that asks for everybody must have been cut off. */
const TAKE_OVER_AFTER_MS = 30_000;
/** For how long an answer that is just being kept counts as new to those who came meanwhile. */
const KEEPING_MS = 5_000;

const NEVER = new AbortController().signal;

/**
 * One isolate's look-ups of keys in the database. However many requests ask for however many keys, one query is under
 * way at a time: what comes meanwhile goes into the next one together. Queries that find a key unknown are paced, so
 * that a flood of made-up keys costs the database one query a second and the owner of a genuine key a second's wait.
 *
 * The query runs as part of one of the waiting requests, as work in workerd has to; the others wait for its promise, and
 * take over if that request does not live to see the end.
 */
export class LookUps {
  readonly #waiting = new Map<string, Waiting>();
  readonly #answers = new Map<string, Answer>();
  readonly #allowance = new Allowance(UNKNOWN_BURST, UNKNOWN_EVERY_MS);
  #query: Promise<void> | undefined;
  #moment = 0;
  #failedAt = -Infinity;

  /** Counts up with every call: an order of events within this isolate, whose clock stands still while code runs. */
  moment(): number {
    return ++this.#moment;
  }

  /** Whether the next query has to wait, because so many keys were unknown. */
  get isBusy(): boolean {
    return this.#allowance.waitMs() > 0;
  }

  /** Whether the database could not answer, a moment ago. */
  get haveJustFailed(): boolean {
    return isWithin(FAILED_FOR_MS, this.#failedAt);
  }

  /** The last answer for a hash, of whatever age. */
  lastAnswer(hash: string): Answer | undefined {
    return this.#answers.get(hash);
  }

  /** Whether the database said, a short while ago, that there is no such key. */
  isKnownToBeUnknown(hash: string): boolean {
    const answer = this.#answers.get(hash);
    return answer !== undefined && !answer.key && isWithin(UNKNOWN_FOR_MS, answer.checked);
  }

  /**
   * An answer that was still being got or kept at the given moment: who came then, and did not find the key where it is
   * kept, need not ask again.
   */
  answerSince(hash: string, moment: number): Answer | undefined {
    const answer = this.#answers.get(hash);
    if (!answer || !isWithin(KEEPING_MS, answer.checked)) return undefined;
    return answer.kept === undefined || answer.kept > moment ? answer : undefined;
  }

  /**
   * Asks the database for a key, together with everybody else who is asking.
   *
   * @throws DatabaseError when the database cannot answer
   */
  async ask(hash: string, lender: Lender): Promise<Answer> {
    const waiting = this.#waiting.get(hash) ?? { hash };
    this.#waiting.set(hash, waiting);
    while (!waiting.outcome) {
      const query = (this.#query ??= this.#start(lender));
      // The timer is this request's own: workerd takes a request that waits for nothing of its own for hung.
      const giveUp = () => {
        if (this.#query === query) this.#query = undefined;
      };
      await withTimeout(query, TAKE_OVER_AFTER_MS, giveUp);
    }
    if ('error' in waiting.outcome) throw waiting.outcome.error;
    return waiting.outcome.answer;
  }

  #start(lender: Lender): Promise<void> {
    const query = this.#askForAll(lender).finally(() => {
      if (this.#query === query) this.#query = undefined;
    });
    lender.defer(query); // others wait for it: it has to go on when this request's client has gone
    return query;
  }

  /** Never rejects: a failure is the outcome of all that were asked for. */
  async #askForAll({ db, defer, keep }: Lender): Promise<void> {
    await sleep(this.#allowance.waitMs());
    const batch = [...this.#waiting.values()].slice(0, MAX_BATCH);
    const hashes = batch.map(({ hash }) => hash);
    const checked = Date.now();
    try {
      const keys = await findApiKeys(db, hashes, NEVER);
      if (keys.size < batch.length) this.#allowance.spend();
      const answers = hashes.map((hash) => this.#remember(hash, { key: keys.get(hash), checked }));
      for (const [i, answer] of answers.entries()) (batch[i] as Waiting).outcome = { answer };
      defer(this.#keep(answers, () => keep(keys, checked)));
    } catch (error) {
      this.#failedAt = Date.now();
      for (const waiting of batch) waiting.outcome = { error };
    }
    for (const hash of hashes) this.#waiting.delete(hash);
  }

  async #keep(answers: readonly Answer[], keep: () => Promise<void>): Promise<void> {
    await keep();
    const kept = this.moment();
    for (const answer of answers) answer.kept = kept;
  }

  #remember(hash: string, answer: Answer): Answer {
    this.#answers.delete(hash); // so that it becomes the newest
    this.#answers.set(hash, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
    return answer;
  }
}

/** Whether a moment is past, but for less than so many milliseconds. Of a clock that was set back, the future is not past. */
function isWithin(ms: number, moment: number): boolean {
  const age = Date.now() - moment;
  return age >= 0 && age < ms;
}

function sleep(ms: number): Promise<void> | undefined {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
}

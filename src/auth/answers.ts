import type { StoredApiKey } from '../db/accounts.ts';

/** What the database said of a hash. */
export interface Answer {
  /** Undefined for a key that is unknown, revoked or expired. */
  readonly key: StoredApiKey | undefined;
  /** When it was asked; milliseconds since 1970. */
  readonly checked: number;
  /** The {@link Answers.moment} at which KV had it; undefined until then. */
  kept?: number;
}

/** Answers remembered, some 200 bytes each; the oldest give way. */
const MAX_ANSWERS = 5_000;
/** For how long a hash that the database did not know is refused without asking again. */
const UNKNOWN_FOR_MS = 60_000;
/** For how long at most an answer counts as being on its way into KV. */
const KEEPING_MS = 2_000;

/** What one isolate remembers of the database's answers. */
export class Answers {
  readonly #byHash = new Map<string, Answer>();
  #moment = 0;

  /** Counts up with every call: an order of events within this isolate, whose clock stands still while code runs. */
  moment(): number {
    return ++this.#moment;
  }

  add(hash: string, answer: Answer): void {
    this.#byHash.delete(hash); // so that it becomes the newest
    this.#byHash.set(hash, answer);
    for (const oldest of this.#byHash.keys()) {
      if (this.#byHash.size <= MAX_ANSWERS) break;
      this.#byHash.delete(oldest);
    }
  }

  /** The last answer for a hash, of whatever age. */
  last(hash: string): Answer | undefined {
    return this.#byHash.get(hash);
  }

  /** Whether the database said, a short while ago, that there is no such key. */
  isKnownToBeUnknown(hash: string): boolean {
    const answer = this.#byHash.get(hash);
    return answer !== undefined && !answer.key && isWithin(UNKNOWN_FOR_MS, answer.checked);
  }

  /**
   * An answer that was not yet in KV at the given moment: who looked there since, in vain, need not ask again. This is
   * what makes many requests that come at once with a cold key cost one query.
   */
  since(hash: string, moment: number): Answer | undefined {
    const answer = this.#byHash.get(hash);
    if (!answer || !isWithin(KEEPING_MS, answer.checked)) return undefined;
    return answer.kept === undefined || answer.kept > moment ? answer : undefined;
  }
}

/** Whether a moment is past, but for less than so many milliseconds. Of a clock that was set back, the future is not past. */
function isWithin(ms: number, moment: number): boolean {
  const age = Date.now() - moment;
  return age >= 0 && age < ms;
}

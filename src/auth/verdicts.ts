import type { StoredApiKey } from '../db/accounts.ts';

/** What the database said of a hash. */
export interface Verdict {
  /** Undefined for a key that is unknown, revoked or expired. */
  readonly key: StoredApiKey | undefined;
  /** When it was asked; milliseconds since 1970. */
  readonly checked: number;
  /** The {@link Verdicts.moment} at which KV had it; undefined until then. */
  kept?: number;
}

/** Verdicts remembered, some 200 bytes each; the oldest give way. */
const MAX_VERDICTS = 5_000;
/** For how long a hash that the database did not know is refused without asking again. */
const UNKNOWN_FOR_MS = 60_000;
/** For how long at most a verdict counts as being on its way into KV. */
const KEEPING_MS = 2_000;

/** What one isolate remembers of the database's verdicts. */
export class Verdicts {
  readonly #byHash = new Map<string, Verdict>();
  #moment = 0;

  /** Counts up with every call: an order of events within this isolate, whose clock stands still while code runs. */
  moment(): number {
    return ++this.#moment;
  }

  add(hash: string, verdict: Verdict): void {
    this.#byHash.delete(hash); // so that it becomes the newest
    this.#byHash.set(hash, verdict);
    for (const oldest of this.#byHash.keys()) {
      if (this.#byHash.size <= MAX_VERDICTS) break;
      this.#byHash.delete(oldest);
    }
  }

  /** The last verdict for a hash, of whatever age. */
  last(hash: string): Verdict | undefined {
    return this.#byHash.get(hash);
  }

  /** Whether the database said, a short while ago, that there is no such key. */
  isKnownToBeUnknown(hash: string): boolean {
    const verdict = this.#byHash.get(hash);
    return verdict !== undefined && !verdict.key && isWithin(UNKNOWN_FOR_MS, verdict.checked);
  }

  /**
   * A verdict that was not yet in KV at the given moment: who looked there since, in vain, need not ask again. This is
   * what makes many requests that come at once with a cold key cost one query.
   */
  since(hash: string, moment: number): Verdict | undefined {
    const verdict = this.#byHash.get(hash);
    if (!verdict || !isWithin(KEEPING_MS, verdict.checked)) return undefined;
    return verdict.kept === undefined || verdict.kept > moment ? verdict : undefined;
  }
}

/** Whether a moment is past, but for less than so many milliseconds. Of a clock that was set back, the future is not past. */
function isWithin(ms: number, moment: number): boolean {
  const age = Date.now() - moment;
  return age >= 0 && age < ms;
}

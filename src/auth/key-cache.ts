import { type StoredApiKey, markApiKeysUsed } from '../db/accounts.ts';
import type { Database } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { databaseUnavailable, tooManyFailures } from '../http/errors.ts';
import { logFailure } from '../http/log.ts';
import type { RequestStats } from '../http/request-stats.ts';
import { Allowance } from './allowance.ts';
import { type Verdict, Verdicts } from './verdicts.ts';
import { type CacheEntry, ENTRY_SECONDS, type KeyNamespace, readEntry, writeEntry } from './cache-entries.ts';
import { type Leader, LookUps } from './look-ups.ts';
import { Suspects } from './suspects.ts';

/** What a request brings along to find out whose key it has. */
export interface Inquiry {
  readonly cache: KeyNamespace;
  readonly db: Database;
  /** Where the request comes from: see rate-limits.ts. */
  readonly address: string;
  /** Takes work that may outlast the response. */
  readonly defer: (work: Promise<unknown>) => void;
  /** For the log. */
  readonly requestId: string;
  /** Gets noted what KV knew; nothing when it was not asked. */
  readonly stats: Pick<RequestStats, 'keyCache'>;
}

const MINUTE = 60_000;
/** How long an entry is believed without asking the database: the bound for a revoked key, wherever it is used. */
const FRESH_MS = 5 * MINUTE;
/** How long it is believed when the database cannot be asked. */
const STALE_MS = ENTRY_SECONDS * 1000;
/** By how much another machine's clock may be ahead of ours. */
const SKEW_MS = 1 * MINUTE;
/** `last_used` is noted once in each such stretch of time. */
const USE_MS = 15 * MINUTE;
/** Queries in a row that may meet an unknown key, and how long it takes until the next may. */
const UNKNOWN_BURST = 20;
const UNKNOWN_EVERY_MS = 1_000;

/**
 * Finds out whose key a request has: KV is a read-through cache of `api_keys`, so that a request needs no query to be
 * authenticated and keys in use go on working while the database is down. One for the isolate: it remembers what the
 * database has said. docs/keys.md has the numbers above with their reasons, and what follows for a revoked key.
 */
export class KeyCache {
  readonly #verdicts = new Verdicts();
  readonly #suspects = new Suspects();
  /** Of keys that KV has an entry of, which nobody can make up. */
  readonly #familiar = new LookUps();
  readonly #strangers = new LookUps(new Allowance(UNKNOWN_BURST, UNKNOWN_EVERY_MS));

  /**
   * Looks a key up by its hash: in KV, else in the database, and then keeps it in KV.
   *
   * @returns undefined when no such key was issued, or it was revoked or has expired
   * @throws DatabaseError or ApiError 503 when KV has no answer and the database cannot give one
   * @throws ApiError 429 when the key is not good for all we know, and the address has sent too many such keys
   */
  async find(hash: string, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const arrived = this.#verdicts.moment();
    if (this.#verdicts.isKnownToBeUnknown(hash)) return undefined;

    const { cache, requestId, stats } = inquiry;
    const kept = await readEntry(cache, hash, requestId);
    stats.keyCache = 'miss';
    const entry = kept && this.#newest(kept, hash);
    const key =
      entry && this.#isCredible(entry, hash)
        ? await this.#believe(entry, hash, inquiry)
        : await this.#askAsStranger(hash, arrived, inquiry);
    if (!key) this.#suspects.add(inquiry.address);
    return key;
  }

  /** KV may show an older entry than what this isolate has been told since: of a key that ends sooner, for instance. */
  #newest(entry: CacheEntry, hash: string): CacheEntry {
    const last = this.#verdicts.last(hash);
    return last?.key && last.checked > entry.checked ? { ...entry, ...last.key, checked: last.checked } : entry;
  }

  /** An expired entry is none, and not a refusal: all that is refused takes the same way. And a "no" of our own is final. */
  #isCredible(entry: CacheEntry, hash: string): boolean {
    const last = this.#verdicts.last(hash);
    const wasRefused = last !== undefined && !last.key && last.checked >= entry.checked;
    return !wasRefused && !hasExpired(entry);
  }

  /** @returns the entry's key, as far as it may be believed */
  async #believe(entry: CacheEntry, hash: string, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const age = Date.now() - entry.checked;
    const ask = () => this.#familiar.ask(hash, this.#leader(inquiry));

    const isFresh = age < FRESH_MS && age > -SKEW_MS;
    inquiry.stats.keyCache = isFresh ? 'hit' : 'stale';
    if (isFresh) {
      // To ask for a key is to note its use.
      if (startOfUse(entry.checked) < startOfUse(Date.now()) && !this.#familiar.isFailing)
        inquiry.defer(ask().catch(ignore));
      return entry;
    }
    const mayBeStale = age < STALE_MS;
    if (mayBeStale && this.#familiar.isFailing) {
      if (this.#familiar.isDue) inquiry.defer(ask().catch(ignore));
      return entry;
    }
    try {
      const { key } = await ask();
      if (!key) this.#refuseSuspect(inquiry.address); // as if KV had not known it either
      return key;
    } catch (error) {
      if (!(error instanceof DatabaseError && mayBeStale)) throw error;
      return entry;
    }
  }

  async #askAsStranger(hash: string, arrived: number, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const known = this.#verdicts.since(hash, arrived);
    if (known) return known.key;

    this.#refuseSuspect(inquiry.address);
    if (this.#strangers.isFull) throw databaseUnavailable(new Error('too many keys are waiting to be looked up'));
    return (await this.#strangers.ask(hash, this.#leader(inquiry))).key;
  }

  #refuseSuspect(address: string): void {
    if (this.#strangers.isPaced && this.#suspects.has(address)) throw tooManyFailures();
  }

  #leader({ cache, db, defer, requestId }: Inquiry): Leader {
    return {
      db,
      requestId,
      defer,
      decided: (verdicts) => {
        for (const [hash, verdict] of verdicts) {
          this.#verdicts.add(hash, verdict);
          if (verdict.key) defer(this.#keep(cache, hash, verdict.key, verdict, requestId));
        }
        defer(markUsed(db, [...verdicts.values()], requestId));
      },
    };
  }

  async #keep(
    cache: KeyNamespace,
    hash: string,
    key: StoredApiKey,
    verdict: Verdict,
    requestId: string,
  ): Promise<void> {
    await writeEntry(cache, hash, key, verdict.checked, requestId);
    verdict.kept = this.#verdicts.moment();
  }
}

export const hasExpired = ({ expires }: { expires: number | null }) => expires !== null && expires <= Date.now();

/** The quarter of an hour in which a moment lies. */
const startOfUse = (ms: number) => ms - (ms % USE_MS);

/** A key is looked up because it is used. */
async function markUsed(db: Database, verdicts: readonly Verdict[], requestId: string): Promise<void> {
  const checked = verdicts[0]?.checked ?? 0;
  const start = startOfUse(checked);
  const unmarked = verdicts.flatMap(({ key }) => (key && (key.lastUsed ?? 0) < start ? [key.keyId] : []));
  if (unmarked.length === 0) return;
  try {
    await markApiKeysUsed(db, unmarked, checked, start);
  } catch (error) {
    logFailure('key use not noted', { requestId, error: String(error) });
  }
}

/** The look-up has logged it. */
function ignore(): void {}

import { type StoredApiKey, markApiKeysUsed } from '../db/accounts.ts';
import type { Database } from '../db/client.ts';
import type { Env } from '../env.ts';
import { tooManyFailures } from '../errors.ts';
import { logFailure } from '../log.ts';
import { type Lender, LookUps } from './look-ups.ts';
import { withTimeout } from './timeout.ts';

/*
 * KV as a read-through cache of `api_keys`, so that a request needs no query to be authenticated and keys in use go on
 * working while the database is down. The KV key is the API key's SHA-256 in lower-case hexadecimal, the value a
 * CacheEntry as JSON. docs/keys.md has the numbers below with their reasons, and what follows for a revoked key.
 */

/** What lives in KV, beyond a deployment: a change of its shape takes a new `v`. */
interface CacheEntry {
  readonly v: 2;
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970, null for never. */
  readonly expires: number | null;
  /** When the database said so; milliseconds since 1970. */
  readonly checked: number;
}

/** What a request brings along to find out whose key it has. */
export interface Inquiry {
  readonly cache: Env['API_KEYS'];
  readonly db: Database;
  /** Where the request comes from: see rate-limits.ts. */
  readonly address: string;
  /** Takes work that may outlast the response. */
  readonly defer: (work: Promise<unknown>) => void;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** How long an entry is believed without asking the database: the bound for a revoked key, wherever it is used. */
const FRESH_MS = 5 * MINUTE;
/** How long it is believed when the database cannot be asked. */
const STALE_MS = 24 * 60 * MINUTE;
/** How long a location may answer from its own copy of a KV entry, in seconds: the least that KV takes. */
const EDGE_SECONDS = 30;
/** The least time to live that KV takes, in seconds. */
const MIN_ENTRY_SECONDS = 60;
/** A cache that takes longer is not waited for. */
const CACHE_MS = 1 * SECOND;
/** The grain of `last_used`. */
const USE_MS = 15 * MINUTE;
/** Addresses remembered for having sent unknown keys, and for how long. */
const MAX_SUSPECTS = 1_000;
const SUSPECT_FOR_MS = 1 * MINUTE;

const NEVER = new AbortController().signal;

/** Finds out whose key a request has. One for the isolate: it remembers what it has asked the database. */
export class KeyCache {
  readonly #lookUps = new LookUps();
  readonly #suspects = new Map<string, number>();

  /**
   * Looks a key up by its hash: in KV, else in the database, and then keeps it in KV.
   *
   * @returns undefined when no such key was issued, or it was revoked or has expired
   * @throws DatabaseError when KV has no answer and the database cannot give one
   * @throws ApiError 429 when KV has no answer and the address has made the database look for too many unknown keys
   */
  async find(hash: string, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const arrived = this.#lookUps.moment();
    if (this.#lookUps.isKnownToBeUnknown(hash)) return undefined;

    const entry = await readEntry(inquiry.cache, hash);
    // An expired entry is none, and not a refusal: all that is refused takes the same way, and so the same time.
    const key = entry && !hasExpired(entry) ? await this.#believe(entry, hash, inquiry) : undefined;
    return key ?? (await this.#askOnce(hash, arrived, inquiry));
  }

  /** @returns the entry's key, as far as it may be believed */
  async #believe(entry: CacheEntry, hash: string, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const last = this.#lookUps.lastAnswer(hash);
    // KV may show an older entry than the one this isolate has written.
    const checked = last?.key ? Math.max(last.checked, entry.checked) : entry.checked;
    const now = Date.now();
    if (now - checked < FRESH_MS) {
      if (startOfUse(checked) < startOfUse(now)) inquiry.defer(this.#markUsed(hash, inquiry));
      return entry;
    }
    const mayBeStale = now - checked < STALE_MS;
    if (mayBeStale && this.#lookUps.haveJustFailed) return entry;
    try {
      return (await this.#lookUps.ask(hash, lenderOf(inquiry))).key;
    } catch (error) {
      if (!mayBeStale) throw error;
      logFailure('key look-up failed', { error: String(error) });
      return entry;
    }
  }

  async #askOnce(hash: string, arrived: number, inquiry: Inquiry): Promise<StoredApiKey | undefined> {
    const known = this.#lookUps.answerSince(hash, arrived);
    if (known) return known.key;

    if (this.#lookUps.isBusy && this.#isSuspect(inquiry.address)) throw tooManyFailures();
    const { key } = await this.#lookUps.ask(hash, lenderOf(inquiry));
    if (!key) this.#suspect(inquiry.address);
    return key;
  }

  /** To ask the database for a key is to note its use: see {@link lenderOf}. */
  async #markUsed(hash: string, inquiry: Inquiry): Promise<void> {
    try {
      await this.#lookUps.ask(hash, lenderOf(inquiry));
    } catch (error) {
      logFailure('key look-up failed', { error: String(error) });
    }
  }

  #isSuspect(address: string): boolean {
    return Date.now() - (this.#suspects.get(address) ?? -Infinity) < SUSPECT_FOR_MS;
  }

  #suspect(address: string): void {
    this.#suspects.delete(address);
    this.#suspects.set(address, Date.now());
    for (const oldest of this.#suspects.keys()) {
      if (this.#suspects.size <= MAX_SUSPECTS) break;
      this.#suspects.delete(oldest);
    }
  }
}

export const hasExpired = ({ expires }: { expires: number | null }) => expires !== null && expires <= Date.now();

/** The quarter of an hour in which a moment lies. */
const startOfUse = (ms: number) => ms - (ms % USE_MS);

/** A key is looked up because it is used: whoever finds it in the database writes that down, there and in KV. */
function lenderOf({ cache, db, defer }: Inquiry): Lender {
  return {
    db,
    defer,
    async keep(keys, checked) {
      const used = startOfUse(checked);
      const unmarked = [...keys.values()].filter(({ lastUsed }) => (lastUsed ?? 0) < used);
      await Promise.all([
        ...[...keys].map(([hash, key]) => writeEntry(cache, hash, key, checked)),
        unmarked.length > 0 ? markUsed(db, unmarked, used) : undefined,
      ]);
    },
  };
}

async function markUsed(db: Database, keys: readonly StoredApiKey[], used: number): Promise<void> {
  try {
    await markApiKeysUsed(
      db,
      keys.map(({ keyId }) => keyId),
      used,
      NEVER,
    );
  } catch (error) {
    logFailure('key look-up failed', { error: String(error) });
  }
}

/** A cache that fails must not lock anybody out: it then counts as empty. */
async function readEntry(cache: Env['API_KEYS'], hash: string): Promise<CacheEntry | undefined> {
  try {
    const reading = cache.get<Partial<CacheEntry>>(hash, { type: 'json', cacheTtl: EDGE_SECONDS });
    const entry = await withTimeout(reading, CACHE_MS, () => {
      throw new Error(`no answer within ${CACHE_MS} ms`);
    });
    return entry?.v === 2 ? (entry as CacheEntry) : undefined;
  } catch (error) {
    logFailure('key cache failed', { error: String(error) });
    return undefined;
  }
}

async function writeEntry(cache: Env['API_KEYS'], hash: string, key: StoredApiKey, checked: number): Promise<void> {
  const { keyId, accountId, email, expires } = key;
  const entry: CacheEntry = { v: 2, keyId, accountId, email, expires, checked };
  const lifeMs = Math.min(STALE_MS, expires === null ? Infinity : expires - checked);
  const expirationTtl = Math.max(MIN_ENTRY_SECONDS, Math.ceil(lifeMs / SECOND));
  try {
    await cache.put(hash, JSON.stringify(entry), { expirationTtl });
  } catch (error) {
    logFailure('key cache failed', { error: String(error) });
  }
}

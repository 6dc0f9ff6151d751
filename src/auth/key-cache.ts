import { type FoundApiKey, type StoredApiKey, findApiKey, noteApiKeyUse } from '../db/accounts.ts';
import type { Connection } from '../db/client.ts';
import { DatabaseError } from '../db/errors.ts';
import { logFailure } from '../http/log.ts';
import type { RequestStats } from '../http/request-stats.ts';
import {
  ENTRY_SECONDS,
  type KeyStore,
  isEntry,
  readEntry,
  withTimeout,
  writeEntry,
} from './key-entry.ts';

/** The database's last result for a key. */
interface Check {
  /** Undefined if the key is unknown, revoked or expired. */
  readonly key: StoredApiKey | undefined;
  readonly checked: number;
}

type ValidCheck = Check & { readonly key: StoredApiKey };

/** Work that requests with the same key wait for. */
interface Running<T> {
  readonly result: Promise<T>;
  /** Milliseconds since 1970. */
  readonly began: number;
}

/**
 * The state of a key's KV entry when a lookup begins. `unclear`: the entry is not valid, or KV
 * failed.
 */
type EntryState = 'valid' | 'missing' | 'unclear';

/** What a lookup needs from the request. */
export interface KeyRequest extends KeyStore {
  readonly db: Connection;
  /** Receives `keyCache`; it stays null if KV is not read. */
  readonly stats: Pick<RequestStats, 'keyCache'>;
  /** Keeps work running after the response. */
  readonly defer: (work: Promise<unknown>) => void;
  readonly address: string;
  /** Counts the request against the limit of its address, once. @throws ApiError 429 */
  readonly countFailure: () => Promise<void>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** How long a valid key needs no other query, and so the longest that a revoked key is accepted. */
const FRESH_MS = 5 * MINUTE;
/** How long a hash that the database does not know is refused without a query. */
const UNKNOWN_MS = 1 * MINUTE;
/** The last use is written once in each of these periods, which are aligned to the clock. */
const USE_PERIOD_MS = 15 * MINUTE;
/**
 * A query with all its retries takes less. A lookup that takes longer never ends, since the runtime
 * has ended its request.
 */
const LOOKUP_TIMEOUT_MS = 20 * SECOND;
/** A result takes some 300 bytes. */
const MAX_CHECKS = 5_000;

/**
 * Finds the account of a key: a read-through cache of `api_keys` in KV, with one instance per
 * isolate. docs/internals/keys.md explains the times above and what they mean for a revoked key.
 */
export class KeyCache {
  /** The last result for each hash that this isolate has looked up, in order of lookup. */
  readonly #checks = new Map<string, Check>();
  /** Running lookups. Those of keys without an entry stay until KV has their results. */
  readonly #lookups = new Map<string, Running<Check>>();
  /** Running counts against the limit of an address, by address and hash. */
  readonly #counts = new Map<string, Running<void>>();

  /**
   * @param hash SHA-256 of the key, lowercase hexadecimal
   * @returns undefined if the key is unknown, revoked or expired
   * @throws DatabaseError if the database has to be queried and cannot be reached
   * @throws ApiError 429 if the key is not cached and its address has reached its limit
   */
  async find(hash: string, request: KeyRequest): Promise<StoredApiKey | undefined> {
    const before = this.#checks.get(hash);
    if (before && !before.key && isWithin(UNKNOWN_MS, before.checked)) return undefined;
    const running = resultIn(this.#lookups, hash);

    const value = await readEntry(hash, request);
    const missing = value === null ? 'missing' : 'unclear';
    const cached = this.#newest(hash, value);
    const entry = cached ? 'valid' : missing;

    if (cached && isWithin(FRESH_MS, cached.checked)) {
      request.stats.keyCache = 'hit';
      // a lookup also notes the use
      const isDue = usePeriodOf(cached.checked) < usePeriodOf(Date.now());
      if (isDue && !resultIn(this.#lookups, hash))
        this.#lookUp(hash, request, entry).catch((error: unknown) =>
          logFailure('key lookup failed', request.requestId, error),
        );
      return cached.key;
    }

    request.stats.keyCache = cached ? 'stale' : 'miss';
    const last = this.#checks.get(hash);
    if (last && last !== before) return keyOf(last); // the result arrived meanwhile

    const lookup = running ?? this.#lookUp(hash, request, entry);
    const timeout = () =>
      new DatabaseError('transient', `no result of the key lookup within ${LOOKUP_TIMEOUT_MS} ms`);
    return keyOf(await withTimeout(lookup, LOOKUP_TIMEOUT_MS, timeout));
  }

  /**
   * The KV entry or this isolate's own last result, whichever is newer; only the latter if KV
   * fails, which must lock nobody out. An entry never overrides a refusal of this isolate: if it
   * seems newer, the clock may have been set back since it was written.
   *
   * @param value from {@link readEntry}
   * @returns a valid key of the last 24 hours
   */
  #newest(hash: string, value: unknown): ValidCheck | undefined {
    const entry = isEntry(value) ? { key: value, checked: value.checked } : undefined;
    // it may have been deleted because the key was revoked
    if (!entry && value !== undefined) return undefined;

    const last = this.#checks.get(hash);
    if (last && !last.key) return undefined;

    const isOlder = entry && last && last.checked >= entry.checked;
    const check = isOlder ? last : (entry ?? last);
    if (!check || !isWithin(ENTRY_SECONDS * SECOND, check.checked)) return undefined;
    return isValid(check) ? check : undefined;
  }

  /** Counts requests of one address that arrive together with the same key as one. */
  #count(hash: string, request: KeyRequest): Promise<void> {
    const id = `${request.address} ${hash}`;
    const running = resultIn(this.#counts, id);
    if (running) return running;

    const result = request.countFailure();
    const forget = () => this.#counts.delete(id);
    this.#counts.set(id, { result, began: Date.now() });
    request.defer(result.then(forget, forget));
    return result;
  }

  /**
   * Joins the running lookup of a key, or begins one: queries the database, for this request and all
   * that wait for the same key. The address of a request is counted before that, so that no lookup
   * fails for what concerns one address.
   *
   * @throws ApiError 429
   */
  async #lookUp(hash: string, request: KeyRequest, entry: EntryState): Promise<Check> {
    const running = () => resultIn(this.#lookups, hash);
    if (entry !== 'valid' && !running()) await this.#count(hash, request);
    const shared = running();
    if (shared) return shared;

    const lookup = { result: query(hash, request), began: Date.now() };
    this.#lookups.set(hash, lookup);
    // others may wait when this request's client has left
    request.defer(this.#store(hash, lookup, request, entry));
    return lookup.result;
  }

  /**
   * Remembers the result of a lookup, and writes a valid key to KV. If KV had an entry, it must
   * still have one: otherwise the key may have been revoked meanwhile.
   */
  async #store(
    hash: string,
    lookup: Running<Check>,
    request: KeyRequest,
    entry: EntryState,
  ): Promise<void> {
    try {
      const { key, checked } = await lookup.result;
      if (this.#lookups.get(hash) !== lookup) return; // it took so long that another lookup began

      this.#remember(hash, { key, checked });
      // requests that find the entry deleted must not use this result
      if (entry !== 'missing') this.#lookups.delete(hash);

      const mayWrite = key && (entry === 'missing' || (await readEntry(hash, request)));
      if (mayWrite) await writeEntry(hash, key, checked, request);
    } catch {
      // All that wait for the lookup receive its error.
    } finally {
      if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash);
    }
  }

  #remember(hash: string, check: Check): void {
    this.#checks.delete(hash); // so that it becomes the newest
    this.#checks.set(hash, check);

    const [oldest] = this.#checks.keys();
    if (this.#checks.size > MAX_CHECKS && oldest !== undefined) this.#checks.delete(oldest);
  }
}

/** The result of running work, unless it has taken so long that it never ends. */
function resultIn<T>(running: Map<string, Running<T>>, key: string) {
  const work = running.get(key);
  if (!work) return undefined;

  // A request's clock stands still while it computes, so that of another may be a little ahead.
  const hasTime = Math.abs(Date.now() - work.began) < LOOKUP_TIMEOUT_MS;
  return hasTime ? work.result : undefined;
}

async function query(hash: string, request: KeyRequest) {
  const checked = Date.now();
  const key = await findApiKey(request.db, hash);
  if (key) request.defer(noteUse(key, checked, request));
  return { key, checked };
}

async function noteUse(
  { keyId, lastUsed }: FoundApiKey,
  at: number,
  request: KeyRequest,
): Promise<void> {
  const period = usePeriodOf(at);
  if (lastUsed !== null && lastUsed >= period) return;

  await noteApiKeyUse(request.db, keyId, at, period).catch((error: unknown) =>
    logFailure('key use not noted', request.requestId, error),
  );
}

/** The start of the period that a time is in. */
const usePeriodOf = (time: number) => time - (time % USE_PERIOD_MS);

const isValid = (check: Check): check is ValidCheck =>
  check.key !== undefined && (check.key.expires === null || check.key.expires > Date.now());
const keyOf = (check: Check) => (isValid(check) ? check.key : undefined);

/**
 * Whether a time is in the last `ms` milliseconds. One in the future is not: it was taken before
 * the clock was set back.
 */
const isWithin = (ms: number, time: number) => time <= Date.now() && time > Date.now() - ms;

import type { StoredApiKey } from '../db/accounts.ts';
import { logFailure } from '../http/log.ts';
import { withTimeout } from './timeout.ts';

/*
 * What KV holds of `api_keys`. The KV key is the API key's SHA-256 in lower-case hexadecimal, the value a CacheEntry as
 * JSON. docs/keys.md has the numbers with their reasons.
 */

/** The part of `KVNamespace` that is used here. */
export interface KeyNamespace {
  get(hash: string, options: { type: 'json'; cacheTtl: number }): Promise<unknown>;
  put(hash: string, value: string, options: { expirationTtl: number }): Promise<void>;
}

/** What lives in KV, beyond a deployment: a change of its shape takes a new `v`. */
export interface CacheEntry {
  readonly v: 2;
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970, null for never. */
  readonly expires: number | null;
  /** When the database said so; milliseconds since 1970. */
  readonly checked: number;
}

/** How long an entry lives, unless its key ends sooner; in seconds. */
export const ENTRY_SECONDS = 24 * 60 * 60;
/** How long a location may answer from its own copy of an entry, in seconds: the least that KV takes. */
const EDGE_SECONDS = 30;
/** The least time to live that KV takes, in seconds. */
const MIN_ENTRY_SECONDS = 60;
/** A cache that takes longer is not waited for. */
const CACHE_MS = 1_000;

/** @returns undefined when there is none, or KV does not say: a cache that fails must not lock anybody out */
export async function readEntry(cache: KeyNamespace, hash: string, requestId: string): Promise<CacheEntry | undefined> {
  try {
    const reading = cache.get(hash, { type: 'json', cacheTtl: EDGE_SECONDS });
    const entry = await withTimeout(reading, CACHE_MS, late);
    return isEntry(entry) ? entry : undefined;
  } catch (error) {
    logFailure('key cache failed', { requestId, error: String(error) });
    return undefined;
  }
}

/** What an entry lacks would pass for an account without surveys. */
function isEntry(value: unknown): value is CacheEntry {
  const { v, keyId, accountId, email, expires, checked } = (value ?? {}) as Partial<Record<keyof CacheEntry, unknown>>;
  const areTexts = [keyId, accountId, email].every((text) => typeof text === 'string');
  return v === 2 && areTexts && (expires === null || typeof expires === 'number') && typeof checked === 'number';
}

/** Writes an entry, or logs why not. */
export async function writeEntry(
  cache: KeyNamespace,
  hash: string,
  { keyId, accountId, email, expires }: StoredApiKey,
  checked: number,
  requestId: string,
): Promise<void> {
  const entry: CacheEntry = { v: 2, keyId, accountId, email, expires, checked };
  const secondsLeft = expires === null ? Infinity : Math.ceil((expires - checked) / 1000);
  const expirationTtl = Math.max(MIN_ENTRY_SECONDS, Math.min(ENTRY_SECONDS, secondsLeft));
  try {
    await withTimeout(cache.put(hash, JSON.stringify(entry), { expirationTtl }), CACHE_MS, late);
  } catch (error) {
    logFailure('key cache failed', { requestId, error: String(error) });
  }
}

function late(): never {
  throw new Error(`no answer within ${CACHE_MS} ms`);
}

import { type StoredApiKey, findApiKey } from '../db/accounts.ts';
import type { Database } from '../db/client.ts';
import type { Env } from '../env.ts';

/*
 * KV as a read-through cache of `api_keys`, so that a request needs no query to be authenticated and keys in use go on
 * working while the database is down. The KV key is the API key's SHA-256 in lower-case hexadecimal, the value a
 * CacheEntry as JSON. docs/keys.md gives the bounds that follow for a revoked key.
 */

/** What lives in KV, beyond a deployment: a change of its shape takes a new `v`. */
interface CacheEntry {
  readonly v: 1;
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970, null for never. */
  readonly expires: number | null;
}

/** How long a location may answer from its own copy of a KV entry: the least that KV takes is 30. */
const EDGE_SECONDS = 30;
/** How long an entry lives: a key that was revoked without its entry being deleted dies after this. */
const ENTRY_SECONDS = 300;

/**
 * Looks a key up by its hash: in KV, else in the database, and then remembers it in KV.
 *
 * @param defer takes work that may outlast the response
 * @returns undefined when no such key was issued, or it was revoked
 * @throws DatabaseError when KV has no answer and the database cannot give one
 */
export async function lookUpApiKey(
  cache: Env['API_KEYS'],
  db: Database,
  hash: string,
  signal: AbortSignal,
  defer: (work: Promise<unknown>) => void,
): Promise<StoredApiKey | undefined> {
  const cached = await readEntry(cache, hash);
  if (cached) return cached;
  const key = await findApiKey(db, hash, signal);
  if (key) {
    const entry: CacheEntry = { v: 1, ...key };
    defer(cache.put(hash, JSON.stringify(entry), { expirationTtl: ENTRY_SECONDS }).catch(logCacheFailure));
  }
  return key;
}

/** A cache that fails must not lock anybody out: it then counts as empty. */
async function readEntry(cache: Env['API_KEYS'], hash: string): Promise<CacheEntry | undefined> {
  try {
    const entry = await cache.get<Partial<CacheEntry>>(hash, { type: 'json', cacheTtl: EDGE_SECONDS });
    return entry?.v === 1 ? (entry as CacheEntry) : undefined;
  } catch (error) {
    logCacheFailure(error);
    return undefined;
  }
}

function logCacheFailure(error: unknown): void {
  console.error(JSON.stringify({ event: 'key cache failed', error: String(error) }));
}

import type { StoredApiKey } from '../db/accounts.ts';
import { logFailure } from '../http/log.ts';
import { parseKeyLimits } from './key-limits.ts';

/**
 * The KV value, as JSON; the KV key is the API key's hash. Entries outlive a deployment: a new
 * shape needs a new `v`.
 */
interface KeyEntry extends StoredApiKey {
  readonly v: 3;
  /** When the database was last queried for the key; milliseconds since 1970. */
  readonly checked: number;
}

/** The part of `KVNamespace` used here. */
export interface KeyNamespace {
  get(hash: string, options: { type: 'json'; cacheTtl: number }): Promise<unknown>;
  put(hash: string, value: string, options: { expirationTtl: number }): Promise<void>;
}

/** Where entries are stored, and the request that reads or writes them. */
export interface KeyStore {
  readonly kv: KeyNamespace;
  readonly requestId: string;
}

/** How long KV keeps an entry, in seconds, unless its key expires earlier. */
export const ENTRY_SECONDS = 24 * 60 * 60;
/** KV's minimum for `expirationTtl`. */
const MIN_ENTRY_SECONDS = 60;
/** How long a location may use its own copy of an entry: KV's minimum for `cacheTtl`. */
const COPY_SECONDS = 30;
/** KV takes milliseconds; after this long, the database is faster. */
const TIMEOUT_MS = 1_000;

/** @returns the value, for {@link isEntry}; null if there is none; undefined if KV failed */
export function readEntry(hash: string, store: KeyStore): Promise<unknown> {
  return orLog(store, () => store.kv.get(hash, { type: 'json', cacheTtl: COPY_SECONDS }));
}

/** Writes an entry, or logs that KV failed. */
export async function writeEntry(
  hash: string,
  key: StoredApiKey,
  checked: number,
  store: KeyStore,
): Promise<void> {
  const { keyId, accountId, email, expires, limits } = key;
  const entry: KeyEntry = { v: 3, keyId, accountId, email, expires, limits, checked };
  const remaining = expires === null ? Infinity : Math.ceil((expires - checked) / 1_000);
  const expirationTtl = Math.max(MIN_ENTRY_SECONDS, Math.min(ENTRY_SECONDS, remaining));

  await orLog(store, () => store.kv.put(hash, JSON.stringify(entry), { expirationTtl }));
}

/**
 * Whether a KV value is an entry of this version. One with a field missing could pass for an
 * account without surveys, or a key without limits, and one with another field could limit the key.
 */
export function isEntry(value: unknown): value is KeyEntry {
  const members = (value ?? {}) as Partial<Record<keyof KeyEntry, unknown>>;
  const { v, keyId, accountId, email, expires, limits, checked, ...unknown } = members;
  const areTexts = [keyId, accountId, email].every((text) => typeof text === 'string');
  const areNumbers =
    (expires === null || typeof expires === 'number') && typeof checked === 'number';
  const areLimits = limits === null || parseKeyLimits(limits) !== undefined;

  return v === 3 && areTexts && areNumbers && areLimits && Object.keys(unknown).length === 0;
}

/** Runs an operation of KV. Logs its failure, which must lock nobody out. */
async function orLog<T>(
  { requestId }: KeyStore,
  operation: () => Promise<T>,
): Promise<T | undefined> {
  const timeout = () => new Error(`no response within ${TIMEOUT_MS} ms`);
  try {
    return await withTimeout(operation(), TIMEOUT_MS, timeout);
  } catch (error) {
    logFailure('key cache failed', requestId, error);
    return undefined;
  }
}

/**
 * Waits for a result for at most `ms` milliseconds. Does not end the work itself.
 *
 * @throws error() after that
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, error: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(error()), ms);

  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

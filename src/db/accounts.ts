import { type KeyLimits, parseKeyLimits } from '../auth/key-limits.ts';
import type { Connection, QueryOptions } from './client.ts';
import { raw, sql } from './sql.ts';

/** An issued API key and the account it belongs to. */
export interface StoredApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970; null for a key that does not expire. */
  readonly expires: number | null;
  /** Null for a key that sees everything of its account. */
  readonly limits: KeyLimits | null;
}

/** A key as stored in the database. */
export interface FoundApiKey extends StoredApiKey {
  /** Milliseconds since 1970; null for never. */
  readonly lastUsed: number | null;
}

/** Several requests may wait for the same query, so none of them may cancel it. */
const SHARED: QueryOptions = { signal: new AbortController().signal, retry: 'key' };

const milliseconds = (column: string) => sql`floor(extract(epoch from ${raw(column)}) * 1000)`;

/**
 * @param hash SHA-256 of the key, lowercase hexadecimal
 * @returns undefined if the key is unknown, revoked or expired, or has limits that this version
 * does not know
 * @throws DatabaseError
 */
export async function findApiKey(db: Connection, hash: string): Promise<FoundApiKey | undefined> {
  const text = sql`
    select json_build_object(
        'keyId', k.id, 'accountId', u.id, 'email', u.email,
        'expires', ${milliseconds('k.expires')}, 'lastUsed', ${milliseconds('uses.last_used')}
      )::text, k.limits
    from api_keys k
      join users u on u.id = k.userid
      left join api_key_uses uses on uses.keyid = k.id
    where k.hash = ${hash} and k.revoked is null and (k.expires is null or k.expires > now())`;
  const [row] = (await db.rows({ text, width: 2 }, SHARED)) as [string, string | null][];
  if (!row) return undefined;

  const [key, stored] = row;
  const limits = stored === null ? null : parseKeyLimits(JSON.parse(stored));
  if (limits === undefined) return undefined;

  return { ...(JSON.parse(key) as FoundApiKey), limits };
}

/**
 * Sets when a key was last used, unless that is already at or after `since`. Both times are
 * milliseconds since 1970.
 *
 * @throws DatabaseError
 */
export async function noteApiKeyUse(
  db: Connection,
  keyId: string,
  at: number,
  since: number,
): Promise<void> {
  const time = (ms: number) => new Date(ms).toISOString();
  const text = sql`
    insert into api_key_uses as uses (keyid, last_used) values (${keyId}, ${time(at)})
    on conflict (keyid) do update set last_used = excluded.last_used
    where uses.last_used < ${time(since)}::timestamptz`;

  await db.execute(text, SHARED);
}

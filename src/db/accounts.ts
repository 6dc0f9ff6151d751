import type { Database, QueryOptions } from './client.ts';

/** What is known of an issued API key. */
export interface StoredApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970, null for never. */
  readonly expires: number | null;
  /** Milliseconds since 1970, null for never; undefined where it was not asked for. */
  readonly lastUsed?: number | null;
}

/** No single request may call these queries off. */
const FOR_EVERYBODY: QueryOptions = { signal: new AbortController().signal, retry: 'key' };

const milliseconds = (column: string) => `floor(extract(epoch from ${column}) * 1000)`;
const numberOrNull = (text: string | null) => (text === null ? null : Number(text));

/** @returns by hash, the keys with one of these hashes that are neither revoked nor expired */
export async function findApiKeys(db: Database, hashes: readonly string[]): Promise<Map<string, StoredApiKey>> {
  const text = `
    select k.hash, k.id, u.id, u.email, ${milliseconds('k.expires')}, ${milliseconds('k.last_used')}
    from api_keys k join users u on u.id = k.userid
    where k.hash = any($1) and k.revoked is null and (k.expires is null or k.expires > now())`;
  const rows = await db.rows({ text, params: [hashes], columns: 6 }, FOR_EVERYBODY);
  return new Map(
    (rows as [string, string, string, string, string | null, string | null][]).map(
      ([hash, keyId, accountId, email, expires, lastUsed]) => [
        hash,
        { keyId, accountId, email, expires: numberOrNull(expires), lastUsed: numberOrNull(lastUsed) },
      ],
    ),
  );
}

/**
 * Notes that keys were used.
 *
 * @param at milliseconds since 1970
 * @param unlessSince a use that was noted then or later is recent enough, and stays
 */
export async function markApiKeysUsed(
  db: Database,
  keyIds: readonly string[],
  at: number,
  unlessSince: number,
): Promise<void> {
  const text = `
    update api_keys set last_used = $2::timestamptz
    where id = any($1::uuid[]) and (last_used is null or last_used < $3::timestamptz)`;
  const moments = [at, unlessSince].map((ms) => new Date(ms).toISOString());
  await db.rows({ text, params: [keyIds, ...moments] }, FOR_EVERYBODY);
}

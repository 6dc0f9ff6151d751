import type { Database } from './client.ts';

/** What is known of an issued API key. */
export interface StoredApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly email: string;
  /** Milliseconds since 1970, null for never. */
  readonly expires: number | null;
}

/** @returns the key with this hash, or undefined when there is none, or it was revoked or has expired */
export async function findApiKey(db: Database, hash: string, signal: AbortSignal): Promise<StoredApiKey | undefined> {
  const text = `
    select k.id, u.id, u.email, floor(extract(epoch from k.expires) * 1000)
    from api_keys k join users u on u.id = k.userid
    where k.hash = $1 and k.revoked is null and (k.expires is null or k.expires > now())`;
  const [row] = await db.rows({ text, params: [hash] }, { signal });
  if (!row) return undefined;
  const [keyId, accountId, email, expires] = row as [string, string, string, string | null];
  return { keyId, accountId, email, expires: expires === null ? null : Number(expires) };
}

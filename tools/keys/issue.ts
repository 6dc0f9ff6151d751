import { apiKeyPrefix, generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { findAccount } from '../accounts.ts';
import { withLockTimeout } from '../connection.ts';
import { noSuchAccount } from './not-found.ts';

/** A new key. `key` is not stored, so it cannot be shown again. */
export interface IssuedKey {
  readonly key: string;
  /** `api_keys.id`, which `rotate` and `revoke` take. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly prefix: string;
  /** ISO 8601; null for a key that does not expire. */
  readonly expires: string | null;
}

/**
 * Issues an API key for an account and stores its hash.
 *
 * @param url `postgres://` URL of the migrated database
 * @throws UserError if there is no such account, or more than one
 */
export async function issueKey(
  url: string,
  { email, name, expiresInMs }: { email: string; name: string; expiresInMs?: number | undefined },
): Promise<IssuedKey> {
  const key = generateApiKey();
  const prefix = apiKeyPrefix(key);
  const expires = expiresInMs === undefined ? null : new Date(Date.now() + expiresInMs).toISOString();
  const hash = await hashApiKey(key);
  return withLockTimeout(url, async (client) => {
    const account = await findAccount(client, email);
    if (!account)
      throw noSuchAccount(email, '"npm run db:import" creates one with its data, --create-account one without.');
    const insert =
      'insert into api_keys (userid, name, prefix, hash, expires) values ($1, $2, $3, $4, $5) returning id';
    const { rows } = await client.query<{ id: string }>(insert, [account.id, name, prefix, hash, expires]);
    return { key, id: rows[0]?.id ?? '', email: account.email, name, prefix, expires };
  });
}

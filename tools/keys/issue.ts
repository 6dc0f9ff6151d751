import { apiKeyPrefix, generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { UserError } from '../command.ts';
import { withConnection } from '../connection.ts';
import { printable } from './printable.ts';

/** A key just issued; the only time that `key` is known. */
export interface IssuedKey {
  readonly key: string;
  /** `api_keys.id`, by which it is rotated and revoked. */
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
 * @throws UserError when there is no such account
 */
export async function issueKey(
  url: string,
  { email, name, expiresInMs }: { email: string; name: string; expiresInMs?: number | undefined },
): Promise<IssuedKey> {
  const key = generateApiKey();
  const prefix = apiKeyPrefix(key);
  const expires = expiresInMs === undefined ? null : new Date(Date.now() + expiresInMs).toISOString();
  const hash = await hashApiKey(key);
  const insert = `
    insert into api_keys (userid, name, prefix, hash, expires)
    select id, $2, $3, $4, $5 from users where email = $1
    returning id`;
  const { rows } = await withConnection(url, (client) =>
    client.query<{ id: string }>(insert, [email, name, prefix, hash, expires]),
  );
  const id = rows[0]?.id;
  if (!id) throw noSuchAccount(email, '"npm run db:import" creates one.');
  return { key, id, email, name, prefix, expires };
}

/** @param advice a sentence that says what to do */
export function noSuchAccount(email: string, advice = ''): UserError {
  return new UserError(`--email: there is no account "${printable(email)}". ${advice}`.trimEnd());
}

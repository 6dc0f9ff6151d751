import { withLockTimeout } from '../connection.ts';
import { noSuchKey } from './not-found.ts';
import { isoTime } from './times.ts';

/** A revoked key. */
export interface RevokedKey {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly prefix: string;
  /** When it was first revoked; ISO 8601. */
  readonly revoked: string;
}

interface Row extends RevokedKey {
  readonly hash: string;
  readonly wasRevoked: boolean;
}

/**
 * Revokes a key in the database. If it is revoked already, nothing changes.
 *
 * @param url `postgres://` URL of the migrated database
 * @returns the key, whether it was revoked already, and its hash, under which it is cached
 * @throws UserError if there is no such key
 */
export async function revokeKey(
  url: string,
  id: string,
): Promise<{ revoked: RevokedKey; wasRevoked: boolean; hash: string }> {
  // FOR UPDATE would wait for a transaction that has added the first use of the key.
  const update = `
    update api_keys k set revoked = coalesce(old.revoked, now())
    from (select id, revoked from api_keys where id = $1 for no key update) old, users u
    where k.id = old.id and u.id = k.userid
    returning k.id, u.email, k.name, k.prefix, k.hash, ${isoTime('k.revoked')} as revoked,
      old.revoked is not null as "wasRevoked"`;
  const { rows } = await withLockTimeout(url, (client) => client.query<Row>(update, [id]));
  if (!rows[0]) throw noSuchKey(id);
  const { hash, wasRevoked, ...revoked } = rows[0];
  return { revoked, wasRevoked, hash };
}

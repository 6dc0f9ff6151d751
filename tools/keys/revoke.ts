import { withLockTimeout } from '../connection.ts';
import { type ListedKey, noSuchKey } from './list.ts';
import { isoTime } from './times.ts';

type RevokedKey = Pick<ListedKey, 'id' | 'email' | 'name' | 'prefix'> & {
  readonly revoked: string;
};

/**
 * Revokes a key in the database. If it is revoked already, nothing changes.
 *
 * @param url `postgres://` URL of the migrated database
 * @returns the key and when it was first revoked, whether that was before, and its hash, under
 * which it is cached
 * @throws UserError if there is no such key
 */
export async function revokeKey(url: string, id: string) {
  // FOR UPDATE would wait for a transaction that has added the first use of the key.
  const update = `
    update api_keys k set revoked = coalesce(old.revoked, now())
    from (select id, revoked from api_keys where id = $1 for no key update) old, users u
    where k.id = old.id and u.id = k.userid
    returning k.id, u.email, k.name, k.prefix, k.hash, ${isoTime('k.revoked')} as revoked,
      old.revoked is not null as "wasRevoked"`;
  const { rows } = await withLockTimeout(url, (client) =>
    client.query<RevokedKey & { hash: string; wasRevoked: boolean }>(update, [id]),
  );

  if (!rows[0]) throw noSuchKey(id);
  const { hash, wasRevoked, ...revoked } = rows[0];
  return { revoked, wasRevoked, hash };
}

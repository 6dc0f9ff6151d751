import { apiKeyPrefix, generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { UserError } from '../command.ts';
import { inTransaction, withConnection } from '../connection.ts';
import type { IssuedKey } from './issue.ts';
import { noSuchKey } from './key-id.ts';
import { isoTime, toTheMinute } from './times.ts';

/** A key issued in place of another one. */
export interface RotatedKey extends IssuedKey {
  /** The old key, and when it stops working; ISO 8601. */
  readonly replaces: { readonly id: string; readonly prefix: string; readonly expires: string };
}

interface OldKey {
  readonly email: string;
  readonly name: string;
  readonly prefix: string;
  readonly hash: string;
  readonly expires: string | null;
  readonly revoked: string | null;
  readonly hasExpired: boolean;
}

/** A time only, no days: a day of the database's time zone may have 23 hours. */
const ms = (parameter: string) => `${parameter}::float8 * interval '1 millisecond'`;

/**
 * Issues a new key with the account and name of an old one, which goes on working for a while. All or nothing.
 *
 * @param url `postgres://` URL of the migrated database
 * @param options.graceMs for how long the old key still works, unless it expires before
 * @param options.expiresInMs how long the new key works; by default as long as the old one did when it was issued
 * @returns the new key, and the old one's hash, by which it is cached
 * @throws UserError when there is no such key, or it does not work any more
 */
export async function rotateKey(
  url: string,
  id: string,
  { graceMs, expiresInMs }: { graceMs: number; expiresInMs?: number | undefined },
): Promise<{ rotated: RotatedKey; oldHash: string }> {
  const key = generateApiKey();
  const prefix = apiKeyPrefix(key);
  const hash = await hashApiKey(key);
  // The clock is read with the row in hand: another rotation, waited for, may have ended the key after ours began.
  const select = `
    select u.email, k.name, k.prefix, k.hash, ${isoTime('k.expires')} as expires, ${isoTime('k.revoked')} as revoked,
      coalesce(k.expires <= clock_timestamp(), false) as "hasExpired"
    from api_keys k join users u on u.id = k.userid where k.id = $1 for update of k`;
  const insert = `
    insert into api_keys (userid, name, prefix, hash, expires)
    select userid, name, $2, $3,
      now() + coalesce(${ms('$4')}, interval '1 second' * extract(epoch from expires - created)::float8)
    from api_keys where id = $1
    returning id, ${isoTime('expires')} as expires`;
  const limit = `
    update api_keys set expires = least(expires, now() + ${ms('$2')}) where id = $1
    returning ${isoTime('expires')} as expires`;

  return withConnection(url, (client) =>
    inTransaction(client, async () => {
      const old = (await client.query<OldKey>(select, [id])).rows[0];
      if (!old) throw noSuchKey(id);
      refuseEnded(id, old);
      const added = await client.query<{ id: string; expires: string | null }>(insert, [
        id,
        prefix,
        hash,
        expiresInMs ?? null,
      ]);
      const limited = await client.query<{ expires: string }>(limit, [id, graceMs]);
      const [issued, ending] = [added.rows[0], limited.rows[0]];
      if (!issued || !ending) throw noSuchKey(id);
      const { email, name } = old;
      const replaces = { id, prefix: old.prefix, expires: ending.expires };
      return {
        rotated: { key, id: issued.id, email, name, prefix, expires: issued.expires, replaces },
        oldHash: old.hash,
      };
    }),
  );
}

function refuseEnded(id: string, { revoked, expires, hasExpired }: OldKey): void {
  const ending = revoked ? `was revoked at ${toTheMinute(revoked)}` : `expired at ${toTheMinute(expires ?? '')}`;
  if (!revoked && !hasExpired) return;
  throw new UserError(`<id>: key ${id} ${ending} and cannot be rotated. "npm run keys -- issue" makes a new one.`);
}

import {
  apiKeyPrefix,
  generateApiKey,
  generateLimitedApiKey,
  hashApiKey,
} from '../../src/auth/api-key.ts';
import { UserError } from '../command.ts';
import { withTransaction } from '../connection.ts';
import type { IssuedKey } from './issue.ts';
import { type ListedKey, noSuchKey, stateAt } from './list.ts';
import { printable } from './printable.ts';
import { showLimits } from './shown-limits.ts';
import { isoTime, toTheMinute } from './times.ts';

/** A key that replaces another. */
export interface RotatedKey extends IssuedKey {
  /** The old key, and when it stops working; ISO 8601. */
  readonly replaces: { readonly id: string; readonly prefix: string; readonly expires: string };
}

type FoundKey = Pick<
  ListedKey,
  'id' | 'email' | 'name' | 'prefix' | 'expires' | 'revoked' | 'state'
> & {
  hash: string;
  limits: unknown;
};

type Replacement = Pick<ListedKey, 'id' | 'expires'> & { oldEnd: string };

/**
 * SQL for the id of the key that replaces another. It follows from the other's id, so that the
 * primary key allows one successor at most, and names it.
 */
const successorId = (id: string) => `md5('successor of ' || ${id}::uuid::text)::uuid`;

const ISSUE = '"npm run keys -- issue" issues a new one.';

/** An interval without days: in the database's time zone, a day may have 23 hours. */
const ms = (parameter: string) => `${parameter}::float8 * interval '1 millisecond'`;

/**
 * Issues a new key with the account, name and limits of an old one, which then works for a grace
 * period. All or nothing.
 *
 * @param url `postgres://` URL of the migrated database
 * @param options.graceMs how long the old key still works, unless it expires earlier
 * @param options.expiresInMs how long the new key works; by default as long as the old key was
 * issued for
 * @returns the new key, and the old key's hash, under which it is cached
 * @throws UserError if there is no such key, or it was rotated already, or is revoked or expired
 */
export async function rotateKey(
  url: string,
  id: string,
  { graceMs, expiresInMs }: { graceMs: number; expiresInMs?: number | undefined },
): Promise<{ rotated: RotatedKey; oldHash: string }> {
  // Times have whole milliseconds, which is what the Worker's cache of keys holds.
  // clock_timestamp(), not now(): while this waits for the lock, another rotation may end the key.
  const select = (idOf: string) => `
    select k.id, u.email, k.name, k.prefix, k.hash, ${isoTime('k.expires')} as expires, ${isoTime('k.revoked')} as revoked,
      ${stateAt('clock_timestamp()')} as state, k.limits
    from api_keys k join users u on u.id = k.userid where k.id = ${idOf} for no key update of k`;
  const replace = `
    with limited as (
      update api_keys set expires = least(expires, date_trunc('milliseconds', now() + ${ms('$5')})) where id = $1
      returning ${isoTime('expires')} as until
    )
    insert into api_keys (id, userid, name, limits, prefix, hash, expires)
    select ${successorId('id')}, userid, name, limits, $2, $3,
      date_trunc('milliseconds', now() + coalesce(${ms('$4')}, interval '1 second' * extract(epoch from expires - created)::float8))
    from api_keys where id = $1
    returning id, ${isoTime('expires')} as expires, (select until from limited) as "oldEnd"`;

  return withTransaction(url, async (client) => {
    const find = async (idOf: string) => (await client.query<FoundKey>(select(idOf), [id])).rows[0];
    const old = await find('$1');
    if (!old) throw noSuchKey(id);
    const successor = await find(successorId('$1'));
    if (successor) throw rotatedAlready(id, successor);
    const end = endOf(old);
    if (end) throw new UserError(`<id>: key ${id} ${end} and cannot be rotated. ${ISSUE}`);
    const key = old.limits === null ? generateApiKey() : generateLimitedApiKey();
    const prefix = apiKeyPrefix(key);
    const hash = await hashApiKey(key);
    const { rows } = await client.query<Replacement>(replace, [
      id,
      prefix,
      hash,
      expiresInMs ?? null,
      graceMs,
    ]);

    const { id: newId, expires, oldEnd } = rows[0] as Replacement;
    const replaces = { id, prefix: old.prefix, expires: oldEnd };
    const limits = await showLimits(old.limits);
    const rotated = {
      key,
      id: newId,
      email: old.email,
      name: old.name,
      prefix,
      expires,
      limits,
      replaces,
    };

    return { rotated, oldHash: old.hash };
  });
}

function rotatedAlready(id: string, successor: FoundKey): UserError {
  const named = `key ${successor.id} (${printable(successor.name)}, ${printable(successor.prefix)}…)`;
  const end = endOf(successor);
  const advice = end ? `, but that ${end}. ${ISSUE}` : '. Rotate that one instead.';
  return new UserError(`<id>: key ${id} was rotated already: ${named} replaces it${advice}`);
}

/** How a key ended, if it has. */
function endOf({ revoked, expires, state }: FoundKey): string | undefined {
  if (revoked) return `was revoked at ${toTheMinute(revoked)}`;
  return state === 'expired' ? `expired at ${toTheMinute(expires ?? '')}` : undefined;
}

import { UserError } from '../command.ts';
import { withTransaction } from '../connection.ts';
import { newKey } from './issue.ts';
import { type ListedKey, noSuchKey, SELECT_KEYS } from './list.ts';
import { printable } from './printable.ts';
import { showLimits } from './shown-limits.ts';
import { isoTime, toTheMinute } from './times.ts';

type Replacement = Pick<ListedKey, 'id' | 'expires'> & { oldEnd: string; oldHash: string };

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
 * @returns the new key, with the old one that it `replaces` and when that stops working (ISO 8601);
 * and the old key's hash, under which it is cached
 * @throws UserError if there is no such key, or it was rotated already, or is revoked or expired
 */
export async function rotateKey(
  url: string,
  id: string,
  { graceMs, expiresInMs }: { graceMs: number; expiresInMs?: number | undefined },
) {
  // Times have whole milliseconds, which is what the Worker's cache of keys holds.
  const replace = `
    with limited as (
      update api_keys set expires = least(expires, date_trunc('milliseconds', now() + ${ms('$5')})) where id = $1
      returning ${isoTime('expires')} as until, hash
    )
    insert into api_keys (id, userid, name, limits, prefix, hash, expires)
    select ${successorId('id')}, userid, name, limits, $2, $3,
      date_trunc('milliseconds', now() + coalesce(${ms('$4')}, interval '1 second' * extract(epoch from expires - created)::float8))
    from api_keys where id = $1
    returning id, ${isoTime('expires')} as expires,
      (select until from limited) as "oldEnd", (select hash from limited) as "oldHash"`;

  return withTransaction(url, async (client) => {
    // another rotation may end the key while this waits for the lock
    const find = async (idOf: string) => {
      const select = `${SELECT_KEYS} where k.id = ${idOf} for no key update of k`;
      return (await client.query<ListedKey>(select, [id])).rows[0];
    };

    const old = await find('$1');
    if (!old) throw noSuchKey(id);
    const successor = await find(successorId('$1'));
    if (successor) throw rotatedAlready(id, successor);
    const end = endOf(old);
    if (end) throw new UserError(`<id>: key ${id} ${end} and cannot be rotated. ${ISSUE}`);
    const { key, prefix, hash } = await newKey(old.limits !== null);
    const { rows } = await client.query<Replacement>(replace, [
      id,
      prefix,
      hash,
      expiresInMs ?? null,
      graceMs,
    ]);

    const { id: newId, expires, oldEnd, oldHash } = rows[0] as Replacement;
    const { email, name } = old;
    const replaces = { id, prefix: old.prefix, expires: oldEnd };
    const limits = await showLimits(old.limits);
    return { rotated: { key, id: newId, email, name, prefix, expires, limits, replaces }, oldHash };
  });
}

function rotatedAlready(id: string, successor: ListedKey): UserError {
  const named = `key ${successor.id} (${printable(successor.name)}, ${printable(successor.prefix)}…)`;
  const end = endOf(successor);
  const advice = end ? `, but that ${end}. ${ISSUE}` : '. Rotate that one instead.';
  return new UserError(`<id>: key ${id} was rotated already: ${named} replaces it${advice}`);
}

/** How a key ended, if it has. */
function endOf({ revoked, expires, state }: ListedKey): string | undefined {
  if (revoked) return `was revoked at ${toTheMinute(revoked)}`;
  return state === 'expired' ? `expired at ${toTheMinute(expires ?? '')}` : undefined;
}

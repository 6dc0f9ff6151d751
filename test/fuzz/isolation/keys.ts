import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { generateApiKey, hashApiKey } from '../../../src/auth/api-key.ts';
import type { RunningWorker } from '../../support/worker.ts';
import { storeKeys } from './store.ts';
import { type Account, type Clock, type World, pickOf } from './world.ts';

/** After this time, the limit for unknown keys has no effect. */
const LIMIT_PERIOD_MS = 30_000;
/** In a new quarter of an hour, the service checks a key after a response, and may cache it after it was revoked. */
const CHECK_PERIOD_MS = 900_000;
/** Longer than a case takes, and shorter than the lifetime of a cached key. */
const SHORT_LIFETIME_MS = 60_000;

/** Moves the clock so that limits and checks of earlier cases do not affect the next one. */
export function advanceClock(clock: Clock): void {
  clock.ahead += LIMIT_PERIOD_MS;
  const rest = CHECK_PERIOD_MS - ((Date.now() + clock.ahead) % CHECK_PERIOD_MS);
  if (rest < 4 * SHORT_LIFETIME_MS) clock.ahead += rest;
}

/** Gives every account three valid keys, of which one expires soon, and several that must be refused. */
export async function issueKeys(db: pg.Client, world: World, clock: Clock): Promise<void> {
  const expires = new Date(Date.now() + clock.ahead + SHORT_LIFETIME_MS);
  const stored = world.flatMap((account) => {
    const [first, second, brief] = [generateApiKey(), generateApiKey(), generateApiKey()];
    const [expired, revoked, unknown] = [generateApiKey(), generateApiKey(), generateApiKey()];
    const malformed = [`${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`, 'x'];
    account.keys.push(
      { token: first, valid: true },
      { token: second, valid: true },
      { token: brief, valid: true, expires },
    );
    account.keys.push(...[expired, revoked, unknown, ...malformed].map((token) => ({ token, valid: false })));
    return [
      ...[first, second].map((token) => ({ account, token })),
      { account, token: brief, expires },
      { account, token: expired, expires: new Date(Date.now() - 1) },
      { account, token: revoked, revoked: new Date() },
    ];
  });
  await storeKeys(db, stored);
}

/** Moves the clock past the expiry of the short-lived keys, which the service still has in its cache. */
export function expireKeys(world: World, clock: Clock): void {
  clock.ahead += SHORT_LIFETIME_MS;
  for (const { keys } of world) {
    for (const key of keys) if (key.expires) key.valid = false;
  }
}

/** Revokes or expires a key as `keys -- revoke` and `rotate` do, and issues another. */
export async function replaceKey(
  account: Account,
  db: pg.Client,
  cache: RunningWorker['keys'],
  { key, how }: { key: number; how: 'revoked' | 'expires' },
): Promise<void> {
  const old = pickOf(
    account.keys.filter(({ valid, expires }) => valid && !expires),
    key,
  );
  if (!old) throw new Error('the account has no valid key');
  const hash = await hashApiKey(old.token);
  // The Worker writes its KV entry after the response.
  for (const deadline = Date.now() + 10_000; (await cache.get(hash)) === null; await sleep(5)) {
    if (Date.now() > deadline) throw new Error('a used key is not in the cache after 10 s');
  }
  await db.query(`update api_keys set ${how} = now() where hash = $1`, [hash]);
  await cache.delete(hash);
  old.valid = false;
  const token = generateApiKey();
  await storeKeys(db, [{ account, token }]);
  account.keys.unshift({ token, valid: true });
}

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { generateApiKey, hashApiKey } from '../../../src/auth/api-key.ts';
import type { RunningWorker } from '../../support/worker.ts';
import { storeKeys } from './store.ts';
import { type Account, type Clock, type World, pickOf } from './world.ts';

/** After so long the service looks up keys that are no good without a pause again, however many it has met. */
const PAUSE_MS = 30_000;
/** In another quarter of an hour it asks for a key behind a response, and may write it into its cache once it was revoked. */
const QUARTER_MS = 900_000;
/** Longer than a world takes; shorter than the service believes its cache. */
const BRIEF_MS = 60_000;

/** Lets so much time pass that a world finds the service at rest, and leaves it so. */
export function startAnew(clock: Clock): void {
  clock.ahead += PAUSE_MS;
  const left = QUARTER_MS - ((Date.now() + clock.ahead) % QUARTER_MS);
  if (left < 4 * BRIEF_MS) clock.ahead += left;
}

/** Gives every account keys: three that are good, of which one will end, and what else is sent in place of one. */
export async function issueKeys(db: pg.Client, world: World, clock: Clock): Promise<void> {
  const end = new Date(Date.now() + clock.ahead + BRIEF_MS);
  const stored = world.flatMap((account) => {
    const [first, second, brief] = [generateApiKey(), generateApiKey(), generateApiKey()];
    const [expired, revoked, unknown] = [generateApiKey(), generateApiKey(), generateApiKey()];
    const malformed = [`${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`, 'x'];
    account.keys.push({ token: first, good: true }, { token: second, good: true }, { token: brief, good: true, end });
    account.keys.push(...[expired, revoked, unknown, ...malformed].map((token) => ({ token, good: false })));
    return [
      ...[first, second].map((token) => ({ account, token })),
      { account, token: brief, expires: end },
      { account, token: expired, expires: new Date(Date.now() - 1) },
      { account, token: revoked, revoked: new Date() },
    ];
  });
  await storeKeys(db, stored);
}

/** Lets the time pass after which brief keys are no good, while the service has them in its cache. */
export function endBriefKeys(world: World, clock: Clock): void {
  clock.ahead += BRIEF_MS;
  for (const { keys } of world) {
    for (const key of keys) if (key.end) key.good = false;
  }
}

/** Ends a key at once, as `keys -- revoke` or `rotate` does it, and issues another. */
export async function exchangeKey(
  account: Account,
  db: pg.Client,
  cache: RunningWorker['keys'],
  { key, how }: { key: number; how: 'revoked' | 'expires' },
): Promise<void> {
  const old = pickOf(
    account.keys.filter(({ good, end }) => good && !end),
    key,
  );
  if (!old) throw new Error('every account has good keys');
  const hash = await hashApiKey(old.token);
  // It has been used: its entry is written behind the response.
  for (const deadline = Date.now() + 10_000; (await cache.get(hash)) === null; await sleep(5)) {
    if (Date.now() > deadline) throw new Error('a key that was used is not in the cache after 10 s');
  }
  await db.query(`update api_keys set ${how} = now() where hash = $1`, [hash]);
  await cache.delete(hash);
  old.good = false;
  const token = generateApiKey();
  await storeKeys(db, [{ account, token }]);
  account.keys.unshift({ token, good: true });
}

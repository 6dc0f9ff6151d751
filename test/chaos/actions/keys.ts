import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, hashApiKey } from '../../../src/auth/api-key.ts';
import { sql } from '../../support/data.ts';
import { pick } from '../../support/random.ts';
import { leaksIn } from '../checks/leaks.ts';
import { isBusy, read } from '../checks/read.ts';
import type { Action, Context } from '../context.ts';
import type { Account } from '../model/account.ts';
import { randomLimits } from '../model/limits.ts';
import { send } from '../requests/send.ts';

/** Longer than the Worker takes to write a key's entry to KV. */
const CACHED_MS = 10_000;
/**
 * In a new quarter of an hour, the service checks a key after a response, and may cache it after it
 * was revoked.
 */
const CHECK_PERIOD_MS = 900_000;
const LIFETIME_MS = 3_000;

/**
 * Uses a key, and waits until KV has its entry, which the Worker writes after its response.
 * @returns its hash
 */
export async function useKey(context: Context, account: Account, key: string): Promise<string> {
  await read(context, { account, path: '/surveys', parameters: { survey: '' } }, { key });
  const hash = await hashApiKey(key);
  for (
    const deadline = Date.now() + CACHED_MS;
    (await context.stack.worker.keys.get(hash)) === null;
    await sleep(10)
  ) {
    if (Date.now() > deadline)
      throw new Error(`a used key is not in the cache after ${CACHED_MS / 1000} s`);
  }
  return hash;
}

async function expectRefused(
  { world, tally }: Context,
  key: string,
  what: string,
  isBasic = false,
): Promise<void> {
  const received = await send('/surveys', { key, isBasic });
  const leaks = leaksIn(undefined, world.accounts, received);
  if (received.status !== 401 || leaks.length > 0)
    throw new Error(
      `${what}: ${received.status} ${received.bytes.toString('utf8', 0, 200)} ${leaks.join()}`,
    );
  tally.pass(`keys: ${what} is refused`);
}

const end = ({ world }: Context, hash: string, how: string) =>
  world.alone(() => sql(`update api_keys set ${how} = now() where hash = $1`, [hash]));

/** Uses a new key, ends it as `keys -- revoke` and `rotate` do, and uses it again. */
export const endKey: Action = async (context, random) => {
  const rest = CHECK_PERIOD_MS - (Date.now() % CHECK_PERIOD_MS);
  if (rest < 2 * CACHED_MS) await sleep(rest);
  const account = pick(random, context.world.accounts);
  const key = await context.world.issueKey(
    account,
    null,
    random() < 0.5 ? randomLimits(random) : null,
  );
  const hash = await useKey(context, account, key);
  const how = pick(random, ['revoked', 'expires']);
  await end(context, hash, how);
  await context.stack.worker.keys.delete(hash);
  await expectRefused(context, key, `a used key with ${how}`);
};

/** Uses a key while it is valid and cached, and after it has expired. */
export const expireKey: Action = async (context, random) => {
  const expires = Date.now() + LIFETIME_MS;
  const key = await context.world.issueKey(pick(random, context.world.accounts), new Date(expires));
  const received = await send('/surveys', { key });
  const { status } = received;
  if (status !== 200 && !isBusy(received) && Date.now() < expires)
    throw new Error(`a valid key: status ${status}`);
  await sleep(Math.max(0, expires - Date.now()) + 1);
  await expectRefused(context, key, 'a key that has expired');
};

/** Sends keys that are unknown, malformed, revoked or expired. */
export const tryInvalidKey: Action = async (context, random) => {
  const account = pick(random, context.world.accounts);
  const [valid = ''] = account.keys;
  const expired = () => context.world.issueKey(account, new Date(Date.now() - 1));
  const revoked = async () => {
    const key = await context.world.issueKey(account);
    await end(context, await hashApiKey(key), 'revoked');
    return key;
  };
  const malformed = `${valid.slice(0, -1)}${valid.endsWith('0') ? '1' : '0'}`;
  const key = await pick(random, [
    generateApiKey,
    () => malformed,
    () => 'sres_',
    () => 'x',
    expired,
    revoked,
  ])();
  await expectRefused(context, key, 'an invalid key', random() < 0.5);
};

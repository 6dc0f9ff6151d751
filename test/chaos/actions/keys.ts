import { setTimeout as sleep } from 'node:timers/promises';
import { hashApiKey } from '../../../src/auth/api-key.ts';
import { sql } from '../../support/data.ts';
import { pick } from '../../support/random.ts';
import { leaksIn } from '../checks/leaks.ts';
import { read } from '../checks/read.ts';
import type { Action, Context } from '../context.ts';
import type { Account } from '../model/account.ts';
import { send } from '../requests/send.ts';

/** Longer than the Worker takes to write a key's entry to KV. */
const CACHED_MS = 10_000;
/**
 * In a new quarter of an hour, the service checks a key after a response, and may cache it after it
 * was revoked.
 */
const CHECK_PERIOD_MS = 900_000;

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

/** Uses a new key, ends it as `keys -- revoke` and `rotate` do, and uses it again. */
export const endKey: Action = async (context, random) => {
  const { world, stack, tally } = context;
  const rest = CHECK_PERIOD_MS - (Date.now() % CHECK_PERIOD_MS);
  if (rest < 2 * CACHED_MS) await sleep(rest);
  const account = pick(random, world.accounts);
  const key = await world.issueKey(account, random() < 0.5);
  const hash = await useKey(context, account, key);
  const how = pick(random, ['revoked', 'expires']);
  await world.alone(() => sql(`update api_keys set ${how} = now() where hash = $1`, [hash]));
  await stack.worker.keys.delete(hash);
  const received = await send('/surveys', { key });
  const leaks = leaksIn(undefined, world.accounts, received);
  if (received.status !== 401 || leaks.length > 0)
    throw new Error(
      `${how}: ${received.status} ${received.bytes.toString('utf8', 0, 200)} ${leaks.join()}`,
    );
  tally.pass(`keys: a used key with ${how} is refused`);
};

import { messageOf } from '../../tools/command.ts';
import { type Random, pick, randomFrom } from '../support/random.ts';
import { sendHostile } from './actions/hostile.ts';
import { endKey, useKey } from './actions/keys.ts';
import { disconnect, readSmall } from './actions/reads.ts';
import { checkMemory, heldMemory } from './checks/memory.ts';
import { checkIdle, checkLog, checkModel } from './checks/quiet.ts';
import type { Action, Context } from './context.ts';
import { tryFault } from './faults/trial.ts';
import { writes } from './model/writes.ts';

/** At a time. */
const ACTORS = 32;

/** Changes anything of an account. */
const write: Action = async ({ world, tally }, random) => {
  const account = pick(random, world.accounts.slice(0, 3));
  const name = pick(random, Object.keys(writes));
  await world.alone(async () => writes[name]?.(random, account, world));
  tally.pass(`write: ${name}`);
};

/** Restarts the database while others read. */
const restart: Action = async ({ world, stack, tally }) => {
  await world.alone(() => stack.restartDatabase());
  tally.pass('fault: a restart of the database');
};

/** How often each action is chosen. */
const ACTIONS: readonly (readonly [weight: number, Action])[] = [
  [180, tryFault],
  [25, readSmall],
  [30, sendHostile],
  [30, write],
  [7, disconnect],
  [5, endKey],
  [0.5, restart],
];

/** Runs all actions at once; then checks that nothing is left over. */
export async function chaos(context: Context, random: Random, seconds: number): Promise<void> {
  for (const account of context.world.accounts)
    for (const key of account.keys) await useKey(context, account, key);
  const idle = await heldMemory(context.stack.worker);
  const end = Date.now() + 1000 * seconds;
  await Promise.all(
    Array.from({ length: ACTORS }, (_, actor) =>
      act(context, randomFrom(random() * 2 ** 32), end, actor),
    ),
  );
  await checkIdle(context);
  await checkMemory(context, idle);
  await checkModel(context);
  checkLog(context);
}

/**
 * Does one action, then random ones. @param end milliseconds since 1970 @param first the number of
 * the first action
 */
async function act(context: Context, random: Random, end: number, first: number) {
  for (let next = ACTIONS[first]?.[1]; Date.now() < end; next = undefined) {
    const action = next ?? someAction(random);
    await action(context, random).catch((error: unknown) => context.tally.fail(messageOf(error)));
  }
}

function someAction(random: Random): Action {
  let at = random() * ACTIONS.reduce((sum, [weight]) => sum + weight, 0);
  return ACTIONS.find(([weight]) => (at -= weight) < 0)?.[1] ?? readSmall;
}

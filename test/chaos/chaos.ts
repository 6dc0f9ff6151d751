import { messageOf } from '../../tools/command.ts';
import { type Random, pick, randomFrom } from '../support/random.ts';
import { sendHostile } from './actions/hostile.ts';
import { endKey, expireKey, tryInvalidKey, useKey } from './actions/keys.ts';
import { disconnect, disconnectDuringQuery, poll, readFile, readSlowly } from './actions/reads.ts';
import { checkMemory, heldMemory } from './checks/memory.ts';
import { checkIdle, checkLog, checkModel } from './checks/quiet.ts';
import type { Action, Context } from './context.ts';
import { causeOutage } from './faults/outages.ts';
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
  await world.alone(() => causeOutage(() => stack.restartDatabase()));
  tally.pass('fault: a restart of the database');
};

type Weighted = readonly [besideFiles: number, besidePages: number, Action];

/**
 * How often each action is chosen, beside files and beside pages. For a second after a page, the
 * files of all other keys are read one database page at a time, so requests for pages come in
 * bursts.
 */
const ACTIONS: readonly Weighted[] = [
  [150, 30, (context, random) => tryFault(context, random, false)],
  [0, 80, (context, random) => tryFault(context, random, true)],
  [40, 10, readFile],
  [0, 30, poll],
  [0, 50, sendHostile],
  [25, 40, write],
  [4, 4, disconnect],
  [5, 2, disconnectDuringQuery],
  [1, 1, readSlowly],
  [4, 4, endKey],
  [3, 3, expireKey],
  [5, 5, tryInvalidKey],
  [0.5, 0.5, restart],
];
const BURST_MS = 10_000;
/** Part of this time. */
const PAGES = 0.35;

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
  for (let next = ACTIONS[first % ACTIONS.length]?.[2]; Date.now() < end; next = undefined) {
    const action = next ?? someAction(random);
    await action(context, random).catch((error: unknown) => context.tally.fail(messageOf(error)));
  }
}

function someAction(random: Random): Action {
  const isBesidePages = Date.now() % BURST_MS < PAGES * BURST_MS;
  const weighted = ACTIONS.map(([files, pages, action]) => ({
    weight: isBesidePages ? pages : files,
    action,
  }));
  let at = random() * weighted.reduce((sum, { weight }) => sum + weight, 0);
  return (weighted.find(({ weight }) => (at -= weight) < 0) ?? { action: readFile }).action;
}

import { messageOf } from '../../tools/command.ts';
import { pick, randomFrom } from '../support/random.ts';
import { disconnect, disconnectDuringQuery } from './actions/disconnect.ts';
import { sendHostile } from './actions/hostile.ts';
import { endKey, expireKey, tryInvalidKey, useKey } from './actions/keys.ts';
import { poll, readFile, readPage, readSlowly } from './actions/reads.ts';
import { type Measurement, MemoryWatch, memoryLines, memoryProblems } from './checks/memory.ts';
import { checkIdle, checkLog, checkModel } from './checks/quiet.ts';
import type { Action, Context } from './context.ts';
import { Deck } from './faults/deck.ts';
import { tryNext } from './faults/trial.ts';
import type { Random } from './model/random-data.ts';
import { writes } from './model/writes.ts';

/** At a time. */
const ACTORS = 32;
/** During the first part, workerd compiles the code and its memory grows. The other one shows whether it keeps growing. */
const PARTS = 2;

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

/**
 * How often each action is chosen, beside files and beside pages. For a second after a page, the files of all other keys are read
 * one database page at a time, so requests for pages come in bursts.
 */
const actionsWith = (deck: Deck): readonly (readonly [besideFiles: number, besidePages: number, Action])[] => [
  [150, 30, (context, random) => tryNext(context, random, deck, false)],
  [0, 80, (context, random) => tryNext(context, random, deck, true)],
  [40, 10, readFile],
  [0, 40, readPage],
  [0, 20, poll],
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

/** Runs all actions at once, in two parts; after each, checks that nothing is left over. @returns lines to print */
export async function chaos(context: Context, random: Random, seconds: number): Promise<string[]> {
  const { tally, world } = context;
  for (const account of world.accounts) for (const key of account.keys) await useKey(context, account, key);
  const deck = new Deck(random);
  const actions = actionsWith(deck);

  await using memory = await MemoryWatch.start(context);
  const idle = await memory.measure();
  const measured: Measurement[] = [];
  const start = Date.now();
  while (measured.length < PARTS) {
    const partEnd = start + (1000 * seconds * (measured.length + 1)) / PARTS;
    await together((actor) => act(context, randomFrom(random() * 2 ** 32), actions, partEnd, actor));
    await checkIdle(context);
    measured.push(await memory.measure(idle.held));
  }
  await checkModel(context);
  checkLog(context);
  const problems = memoryProblems(idle, measured);
  for (const problem of problems) tally.fail(problem);
  if (problems.length === 0) tally.pass('memory is bounded');
  return [...memoryLines(idle, measured), String(deck)];
}

/** Runs several at a time. */
const together = (run: (actor: number) => Promise<void>) =>
  Promise.all(Array.from({ length: ACTORS }, (_, actor) => run(actor)));

/** Does one action, then random ones. @param end milliseconds since 1970 @param first the number of the first action */
async function act(
  context: Context,
  random: Random,
  actions: ReturnType<typeof actionsWith>,
  end: number,
  first: number,
): Promise<void> {
  for (let next = actions[first % actions.length]?.[2]; Date.now() < end; next = undefined) {
    const action = next ?? someAction(random, actions);
    await action(context, random).catch((error: unknown) => context.tally.fail(messageOf(error)));
  }
}

function someAction(random: Random, actions: ReturnType<typeof actionsWith>): Action {
  const isBesidePages = Date.now() % BURST_MS < PAGES * BURST_MS;
  const weighted = actions.map(([files, pages, action]) => ({ weight: isBesidePages ? pages : files, action }));
  let at = random() * weighted.reduce((sum, { weight }) => sum + weight, 0);
  return (weighted.find(({ weight }) => (at -= weight) < 0) ?? { action: readFile }).action;
}

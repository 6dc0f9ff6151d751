// npm run faults: random faults, for as long as wished.
import { Command } from 'commander';
import { runCommand } from '../../../tools/command.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { pick, randomFrom } from '../../support/random.ts';
import { useStack } from '../../support/stack-address.ts';
import { startStack } from '../../support/stack.ts';
import { cacheFaults, faults, passing } from './faults.ts';
import type { Kind } from './kinds.ts';
import { sharedRestart } from './restart.ts';
import { Tally } from './tally.ts';
import { type Trial, runAll } from './trial.ts';
import { createWorld } from './world.ts';

const program = new Command('npm run faults --')
  .description('Asks the service for everything it has while random faults spoil what it asks its database.')
  .option('--seconds <number>', 'how long', Number, 60)
  .option('--seed <number>', 'the same faults again', Number, Date.now() % 1_000_000)
  .allowExcessArguments(false);

/** Trials side by side. */
const AT_A_TIME = 6;
const WORD_MS = 10_000;
const FIRST_RESTART_MS = 20_000;
const RESTART_EVERY_MS = 60_000;

await runCommand(async () => {
  const { seconds, seed } = program.parse().opts<{ seconds: number; seed: number }>();
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(`seed ${seed}`);
  const random = randomFrom(seed);
  let proxy: FaultProxy | undefined;
  const stack = await startStack({
    entry: 'test/support/worker-under-faults.ts',
    limits: { KEY_LIMIT: 1e9 },
    behind: async (endpoint) => (proxy = await startFaultProxy(endpoint)).url,
  });
  try {
    if (!proxy) throw new Error('there is no proxy');
    useStack(stack.address);
    const { small, inParts, large } = await createWorld(proxy);
    const kinds = [...small, ...inParts, ...large];
    const tally = new Tally();
    const means = { proxy, random, tally };
    const start = Date.now();
    const end = start + 1000 * seconds;
    const words = setInterval(() => say(tally.toString()), WORD_MS);
    try {
      for (let next = start + FIRST_RESTART_MS; ; next += RESTART_EVERY_MS) {
        await runAll(randomTrials(kinds, random, Math.min(next, end)), AT_A_TIME, means);
        if (Date.now() >= end) break;
        const restart = sharedRestart(kinds.length, () => stack.restartDatabase());
        const trials = kinds.map((kind) => ({ kind, plan: new Map([[anywhere(kind, random), restart.fault]]) }));
        await runAll(trials, trials.length, means);
        await restart.done();
        tally.restarts++;
      }
    } finally {
      clearInterval(words);
    }
    say(tally.toString());
    for (const wrong of tally.wrong) say(`WRONG: ${wrong}`);
    if (tally.wrong.length > 0) process.exitCode = 1;
  } finally {
    await proxy?.close();
    await stack.stop();
  }
});

function anywhere({ requests }: Kind, random: () => number): number {
  return Math.floor(random() * requests);
}

/**
 * One to three faults each, at any request. Requests look keys up together, so what a look-up meets has to pass: others
 * would share a failure that lasts.
 *
 * @param end milliseconds since 1970
 */
function* randomTrials(kinds: readonly Kind[], random: () => number, end: number): Generator<Trial, void, void> {
  while (Date.now() < end) {
    const kind = pick(random, kinds);
    const cache = random() < 0.1 ? pick(random, cacheFaults) : undefined;
    const many = 1 + Math.floor(3 * random());
    const any = () => pick(random, cache ? passing : faults);
    yield { kind, plan: new Map(Array.from({ length: many }, () => [anywhere(kind, random), any()])), cache };
  }
}

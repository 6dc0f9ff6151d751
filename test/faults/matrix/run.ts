// npm run faults: injects faults between the Worker and its database.
import { Command } from 'commander';
import { runCommand } from '../../../tools/command.ts';
import { copyResponses } from '../../support/data.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import { useStack } from '../../support/stack-address.ts';
import { startStack } from '../../support/stack.ts';
import { singleFaults, someRequest, someTrial } from './choices.ts';
import { sharedRestart } from './restart.ts';
import { Tally } from './tally.ts';
import { type Trial, runAll } from './trial.ts';
import { createWorld } from './world.ts';

const program = new Command('npm run faults --')
  .description(
    'Injects faults between the Worker and its database, and compares every response with one without faults.',
  )
  .option('--seconds <number>', 'how long to run', Number, 60)
  .option('--seed <number>', 'seed of the random choices, to repeat a run', Number, Date.now() % 1_000_000)
  .allowExcessArguments(false);

const TRIALS_AT_A_TIME = 8;
const PROGRESS_MS = 10_000;
const FIRST_RESTART_MS = 15_000;
const RESTART_INTERVAL_MS = 60_000;

await runCommand(async () => {
  const { seconds, seed } = program.parse().opts<{ seconds: number; seed: number }>();
  const print = (line: string) => process.stdout.write(`${line}\n`);
  print(`seed ${seed}`);
  const random = randomFrom(seed);
  let proxy: FaultProxy | undefined;
  const stack = await startStack({
    entry: 'test/support/worker-under-faults.ts',
    limits: { KEY_LIMIT: 1e9 },
    startProxy: async (endpoint) => (proxy = await startFaultProxy(endpoint)).url,
  });
  const tally = new Tally();
  const progress = setInterval(() => print(tally.toString()), PROGRESS_MS);
  try {
    if (!proxy) throw new Error('there is no proxy');
    useStack(stack.address);
    const world = await createWorld(proxy);
    if (!world.small[0]?.whole.equals(await copyResponses(world.survey))) throw new Error('the CSV differs from COPY');
    const kinds = [...world.small, ...world.inParts, ...world.large];
    const context = { proxy, random, tally };

    const singles = singleFaults(world, random);
    let tried = 0;
    function* trials(end: number): Generator<Trial, void, void> {
      while (Date.now() < end) yield singles[tried++] ?? someTrial(kinds, random);
    }
    const start = Date.now();
    const end = start + 1000 * seconds;
    for (let next = start + FIRST_RESTART_MS; ; next += RESTART_INTERVAL_MS) {
      await runAll(trials(Math.min(next, end)), TRIALS_AT_A_TIME, context);
      if (Date.now() >= end) break;
      const restart = sharedRestart(kinds.length, () => stack.restartDatabase());
      const together = kinds.map((kind) => ({ kind, plan: new Map([[someRequest(kind, random), restart.fault]]) }));
      await runAll(together, together.length, context);
      await restart.done();
      tally.restarts++;
    }
    print(`${Math.min(tried, singles.length)} of ${singles.length} combinations of a request and a fault`);
    print(tally.toString());
    for (const wrong of tally.wrong) print(`FAILED: ${wrong}`);
    print(`faults: ${tally.same + tally.visible} checks passed, ${tally.wrong.length} failed`);
    if (tally.wrong.length > 0) process.exitCode = 1;
  } finally {
    clearInterval(progress);
    await proxy?.close();
    await stack.stop();
  }
});

// npm run faults: injects faults between the Worker and its database.
import { Command } from 'commander';
import { runCommand } from '../../../tools/command.ts';
import { copyResponses } from '../../support/data.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import { useStack } from '../../support/stack-address.ts';
import { startStack } from '../../support/stack.ts';
import { singleFaults, someLie, someRequest, someTrial } from './choices.ts';
import { sharedRestart } from './restart.ts';
import { Tally } from './tally.ts';
import { type Trial, runAll } from './trial.ts';
import { createWorld } from './world.ts';

const program = new Command('npm run faults --')
  .description(
    'Injects faults between the Worker and its database, and compares every response with one without faults.',
  )
  .option('--seconds <number>', 'how long to run', Number, 60)
  .option('--only-lies', 'no visible faults', false)
  .option('--seed <number>', 'seed of the random choices, to repeat a run', Number, Date.now() % 1_000_000)
  .allowExcessArguments(false);

const TRIALS_AT_A_TIME = 8;
const PROGRESS_MS = 10_000;
const FIRST_RESTART_MS = 15_000;
const RESTART_INTERVAL_MS = 60_000;
/** As many as the service runs at a time. */
const MAX_EXPORTS = 12;

await runCommand(async () => {
  const { seconds, onlyLies, seed } = program.parse().opts<{ seconds: number; onlyLies: boolean; seed: number }>();
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
    const lied = [...world.small, ...world.inParts, ...world.forLies];
    const context = { proxy, random, tally };

    const singles = singleFaults(world, random);
    let tried = 0;
    function* trials(end: number): Generator<Trial, void, void> {
      while (Date.now() < end) {
        if (!onlyLies) yield singles[tried++] ?? someTrial(kinds, random);
        yield someLie(lied, random);
      }
    }
    const start = Date.now();
    const end = start + 1000 * seconds;
    for (let next = start + FIRST_RESTART_MS; ; next += RESTART_INTERVAL_MS) {
      await runAll(trials(Math.min(next, end)), TRIALS_AT_A_TIME, context);
      if (Date.now() >= end) break;
      const some = kinds.toSorted(() => random() - 0.5).slice(0, MAX_EXPORTS);
      const restart = sharedRestart(some.length, () => stack.restartDatabase());
      const together = some.map((kind) => ({ kind, plan: new Map([[someRequest(kind, random), restart.fault]]) }));
      await runAll(together, together.length, context);
      await restart.done();
      tally.restarts++;
    }
    print(`${Math.min(tried, singles.length)} of ${singles.length} combinations of a request and a fault`);
    print(tally.toString());
    print(tally.lieTable());
    for (const wrong of tally.wrong) print(`FAILED: ${wrong}`);
    print(`faults: ${tally.same + tally.visible} checks passed, ${tally.wrong.length} failed`);
    if (tally.wrong.length > 0) process.exitCode = 1;
  } finally {
    clearInterval(progress);
    await proxy?.close();
    await stack.stop();
  }
});

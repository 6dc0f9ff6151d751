// npm run faults: random faults, for as long as wished.
import { Command } from 'commander';
import { runCommand } from '../../../tools/command.ts';
import { pick, randomFrom } from '../../support/random.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { useStack } from '../../support/stack-address.ts';
import { startStack } from '../../support/stack.ts';
import { cacheFaults, faults } from './faults.ts';
import { createTwins, kindsOf } from './kinds.ts';
import { Tally } from './tally.ts';
import { run } from './trial.ts';

const program = new Command('npm run faults --')
  .description('Asks the service for everything it has while random faults spoil what it asks its database.')
  .option('--seconds <number>', 'how long', Number, 60)
  .option('--seed <number>', 'the same faults again', Number, Date.now() % 1_000_000)
  .allowExcessArguments(false);

await runCommand(async () => {
  const { seconds, seed } = program.parse().opts<{ seconds: number; seed: number }>();
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(`seed ${seed}`);
  const random = randomFrom(seed);
  let proxy: FaultProxy | undefined;
  const stack = await startStack('postgres', {
    entry: 'test/support/worker-with-faulty-keys.ts',
    behind: async (endpoint) => (proxy = await startFaultProxy(endpoint)).url,
  });
  try {
    if (!proxy) throw new Error('there is no proxy');
    const between = proxy;
    useStack(stack.address);
    const kinds = await kindsOf(await createTwins(), async (work) => {
      between.inject();
      await work();
      return between.requests;
    });
    const tally = new Tally();
    const end = Date.now() + 1000 * seconds;
    for (let nextWord = Date.now() + 10_000; Date.now() < end;) {
      const kind = pick(random, kinds);
      const anywhere = () => Math.floor(random() * kind.requests);
      const how = Math.floor(3 * random());
      const plan = new Map(Array.from({ length: 1 + how }, () => [anywhere(), pick(random, Object.keys(faults))]));
      await run({ kind, plan, cache: random() < 0.1 ? pick(random, cacheFaults) : undefined }, between, random, tally);
      if (Date.now() < nextWord) continue;
      say(tally.toString());
      nextWord += 10_000;
    }
    say(tally.toString());
    for (const wrong of tally.wrong) say(`WRONG: ${wrong}`);
    if (tally.wrong.length > 0) process.exitCode = 1;
  } finally {
    await proxy?.close();
    await stack.stop();
  }
});

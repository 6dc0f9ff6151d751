// npm run chaos: reads, writes and faults, all at once.
import { Command, InvalidArgumentError } from 'commander';
import { messageOf, runCommand } from '../../tools/command.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';
import { chaos } from './chaos.ts';
import { Tally } from './context.ts';
import { World } from './model/world.ts';

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('use a whole number.');
  return Number(text);
}

const program = new Command('npm run chaos --')
  .description(
    'Sends all kinds of requests while rows and keys change and faults occur, and checks every response against a model.',
  )
  .option('--seconds <number>', 'how long to run', wholeNumber, 90)
  .option(
    '--seed <number>',
    'seed of the random choices, to repeat a run',
    wholeNumber,
    Date.now() % 1_000_000,
  )
  .allowExcessArguments(false);

await runCommand(async () => {
  const { seconds, seed } = program.parse().opts<{ seconds: number; seed: number }>();
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  print(`seed ${seed}`);
  const random = randomFrom(seed);
  const tally = new Tally();
  let proxy: FaultProxy | undefined;
  const stack = await startStack({
    entry: 'test/support/worker-under-faults.ts',
    inspector: true,
    limits: { ACCOUNT_LIMIT: 1e9, FAILURE_LIMIT: 1e9 },
    startProxy: async (endpoint) => (proxy = await startFaultProxy(endpoint)).url,
  });
  try {
    if (!proxy) throw new Error('there is no proxy');
    useStack(stack.address);
    const world = new World(random);
    await world.store(random);
    const hostile = await createAccount();
    await addResponses(await createSurvey(hostile, 'fuzzed', 2), [
      {},
      { form: 1, response: '=1' },
      { userid: 'a' },
    ]);
    const context = { stack, proxy, world, hostile, tags: new Map(), served: new Map(), tally };
    await chaos(context, random, seconds).catch((error: unknown) => tally.fail(messageOf(error)));
    const { passed, problems } = tally;
    for (const name of [...passed.keys()].toSorted())
      print(`${String(passed.get(name)).padStart(7)}  ${name}`);
    for (const problem of problems.slice(0, 100)) print(`FAILED: ${problem}`);
    const total = [...passed.values()].reduce((sum, count) => sum + count, 0);
    print(`chaos: ${total} checks passed, ${problems.length} failed`);
  } finally {
    await proxy?.close();
    await stack.stop();
  }
  // Without process.exit, Node 24.21 spins in Environment::CleanupHandles after sockets have been
  // reset.
  process.exit(tally.problems.length > 0 ? 1 : 0);
});

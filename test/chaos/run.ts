// npm run chaos -- --seconds 90 --seed 1: reads, writes and faults, all at once.
import { parseArgs } from 'node:util';
import { UserError, messageOf, runCommand } from '../../tools/command.ts';
import { storeSurvey } from '../support/data.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';
import { chaos } from './chaos.ts';
import { Tally } from './context.ts';
import { World } from './model/world.ts';

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '90' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds > 0 && seed >= 0)) throw new UserError('--seconds and --seed are whole numbers');
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
    const rows = [{}, { form: 1, response: '=1' }, { userid: 'a' }];
    const { account: hostile } = await storeSurvey(rows, { name: 'fuzzed' });
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

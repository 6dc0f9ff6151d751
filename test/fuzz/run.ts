// npm run fuzz: the properties of test/fuzz for as long as wished.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { runCommand } from '../../tools/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function wholeNumber(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}

const program = new Command('npm run fuzz --')
  .description('Sends hostile requests, and holds what accounts get against a model of what they may see.')
  .option('--seconds <number>', 'how long each property is tried', wholeNumber, 60)
  .option('--seed <number>', 'repeats the requests of a run that has printed this seed', wholeNumber)
  .option('--only <word>', 'the files whose names begin so: hostile or isolation', '')
  .allowExcessArguments(false);

await runCommand(async () => {
  const { seconds, seed, only } = program.parse().opts<{ seconds: number; seed?: number; only: string }>();
  process.stdout.write(`Each property is tried for ${seconds} s. One that fails names the seed that repeats it.\n`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawn(process.execPath, [vitest, 'run', '--project', 'fuzz', `test/fuzz/${only}`], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FUZZ_SECONDS: String(seconds), ...(seed === undefined ? {} : { FUZZ_SEED: String(seed) }) },
  });
  const [code] = (await once(run, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
});

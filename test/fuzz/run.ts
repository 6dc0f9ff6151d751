// npm run fuzz: the properties in test/fuzz/*.fuzz.ts, each for as long as you like.
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
  .description('Sends hostile requests, and compares what accounts get with a model of what they may see.')
  .option('--seconds <number>', 'how long each of the three properties runs', wholeNumber, 60)
  .option('--seed <number>', 'sends the same requests again', wholeNumber, Date.now() % 1_000_000)
  .option('--only <word>', 'runs the files whose names begin with it: hostile or isolation', '')
  .allowExcessArguments(false);

await runCommand(async () => {
  const { seconds, seed, only } = program.parse().opts<{ seconds: number; seed: number; only: string }>();
  process.stdout.write(`seed ${seed}\n`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawn(process.execPath, [vitest, 'run', '--config', 'test/fuzz/vitest.config.ts', `test/fuzz/${only}`], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FUZZ_SECONDS: String(seconds), FUZZ_SEED: String(seed) },
  });
  const [code] = (await once(run, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
});

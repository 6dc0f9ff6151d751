// npm run fuzz: checks the properties in test/fuzz/*.fuzz.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { runCommand } from '../../tools/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function wholeNumber(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError('use a whole number.');
  return Number(text);
}

const program = new Command('npm run fuzz --')
  .description('Sends hostile requests, and compares the responses to random accounts with a model.')
  .option('--seconds <number>', 'how long to run each of the three properties', wholeNumber, 60)
  .option('--seed <number>', 'seed of the random choices, to repeat a run', wholeNumber, Date.now() % 1_000_000)
  .option('--only <word>', 'run only the files whose names start with this: hostile or isolation', '')
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

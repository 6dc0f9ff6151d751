// npm run soak: all kinds of load at the same time.
import { Command } from 'commander';
import { runCommand } from '../../tools/command.ts';
import { soak, type SoakOptions } from './soak.ts';

const program = new Command('npm run soak --')
  .description(
    'Starts the service, uses all its features at once while rows and keys change, and checks every response.',
  )
  .option('--seconds <number>', 'how long to run', Number, 120)
  .option('--rows <number>', 'responses in each of the two accounts', Number, 20_000)
  .option('--seed <number>', 'seed of the random choices, to repeat a run', Number, Date.now() % 1_000_000)
  .allowExcessArguments(false);

await runCommand(async () => {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const options = program.parse().opts<SoakOptions>();
  print(`seed ${options.seed}`);
  const { lines, passed, problems } = await soak(options, print);
  lines.forEach(print);
  for (const problem of problems) print(`FAILED: ${problem}`);
  print(`soak: ${passed} checks passed, ${problems.length} failed`);
  // Without process.exit, Node 24.21 spins in Environment::CleanupHandles after sockets have been reset.
  process.exit(problems.length > 0 ? 1 : 0);
});

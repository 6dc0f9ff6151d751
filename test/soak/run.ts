// npm run soak: everything at once, for as long as wished.
import { Command } from 'commander';
import { runCommand } from '../../tools/command.ts';
import { soak } from './soak.ts';

const program = new Command('npm run soak --')
  .description(
    'Starts the service, asks it for everything at once while rows and keys come and go, and checks all answers.',
  )
  .option('--seconds <number>', 'how long', Number, 120)
  .option('--rows <number>', 'responses of each of two accounts', Number, 20_000)
  .allowExcessArguments(false);

await runCommand(async () => {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const { lines, problems } = await soak(program.parse().opts<{ seconds: number; rows: number }>(), say);
  lines.forEach(say);
  for (const problem of problems) say(`WRONG: ${problem}`);
  say(problems.length > 0 ? 'FAILED' : 'all is well');
  // Left to end by itself, Node 24.21 spins in Environment::CleanupHandles when sockets have been reset.
  process.exit(problems.length > 0 ? 1 : 0);
});

// npm run keys: API keys of a local or self-hosted database.
import { Command } from 'commander';
import { runCommand } from './command.ts';
import { openDatabase } from './database.ts';
import { issueKey } from './keys/issue.ts';
import { parseExpiry } from './keys/duration.ts';
import { migrate } from './migrations.ts';

const program = new Command('npm run keys --').description('Manages the API keys of accounts.');

program
  .command('issue')
  .description('Issues a key and prints it, once: only its hash is stored.')
  .requiredOption('--email <email>', 'the account, which has to exist')
  .option('--name <name>', 'what the key is for, to recognise it by', 'API key')
  .option('--expires <duration>', 'when it stops working, such as 90d, 12h or 30m (default: never)')
  .option('--json', 'print the key with its id, prefix and times, as JSON')
  .action(async (options: { email: string; name: string; expires?: string; json?: boolean }) => {
    const expiresInMs = options.expires === undefined ? undefined : parseExpiry(options.expires);
    await using database = await openDatabase();
    await migrate(database.url);
    const key = await issueKey(database.url, { email: options.email, name: options.name, expiresInMs });
    process.stdout.write(`${options.json ? JSON.stringify(key) : key.key}\n`);
  });

await runCommand(async () => {
  await program.parseAsync();
});

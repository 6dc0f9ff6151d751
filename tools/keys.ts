// npm run keys: API keys of a local or self-hosted database, or of a deployed service's.
import { Command } from 'commander';
import { runCommand } from './command.ts';
import { type Database, openDatabase } from './database.ts';
import { parseDuration } from './keys/duration.ts';
import { issueKey } from './keys/issue.ts';
import { parseKeyName } from './keys/key-name.ts';
import { listKeys } from './keys/list.ts';
import { printable, printableJson, withoutSecrets } from './keys/printable.ts';
import { toTable } from './keys/table.ts';
import { migrate } from './migrations.ts';

const program = new Command('npm run keys --')
  .description('Manages the API keys of accounts.')
  .showHelpAfterError()
  .configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) }) // it quotes arguments
  .addHelpText(
    'after',
    `
The database is the one of DATABASE_URL or else the embedded one of DATA_DIR (.data). It is migrated first.`,
  );

program
  .command('issue')
  .description('Issues a key and prints it, once: only its hash is stored.')
  .requiredOption('--email <email>', 'the account, which has to exist')
  .option('--name <name>', 'what the key is for, to recognise it by', 'API key')
  .option('--expires <duration>', 'when it stops working, such as 90d, 12h or 30m (default: never)')
  .option('--json', 'print the key with its id, prefix and times, as JSON')
  .addHelpText(
    'after',
    `
Examples:
  npm run --silent keys -- issue --email ann@example.org
  npm run --silent keys -- issue --email ann@example.org --name "Nightly pull" --expires 90d`,
  )
  .action(async (options: { email: string; name: string; expires?: string; json?: boolean }) => {
    const name = parseKeyName(options.name);
    const expiresInMs = parseExpiry(options.expires);
    await using database = await openMigrated();
    const key = await issueKey(database.url, { email: options.email, name, expiresInMs });
    print(options.json ? printableJson(key) : key.key);
  });

program
  .command('list')
  .description('Lists the keys with their ids, by which they are rotated and revoked. Times are UTC.')
  .option('--email <email>', "only this account's")
  .option('--json', 'print an array of objects, with times to the millisecond')
  .addHelpText(
    'after',
    `
Examples:
  npm run --silent keys -- list
  npm run --silent keys -- list --email ann@example.org --json`,
  )
  .action(async ({ email, json }: { email?: string; json?: boolean }) => {
    await using database = await openMigrated();
    const keys = await listKeys(database.url, email);
    if (json) print(printableJson(keys));
    else if (keys.length > 0) process.stdout.write(toTable(keys));
    else say(email === undefined ? 'There are no keys.' : `The account "${printable(email)}" has no keys.`);
  });

await runCommand(async () => {
  await program.parseAsync();
});

function parseExpiry(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDuration('--expires', text);
}

async function openMigrated(): Promise<Database> {
  const database = await openDatabase();
  try {
    await migrate(database.url);
    return database;
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

// npm run keys: manages API keys, of the local service or of a deployed one.
import { Option } from 'commander';
import { checkEmail } from './accounts.ts';
import {
  commandLine,
  helpOf,
  messageOf,
  needs,
  note,
  print,
  runCommand,
  UserError,
} from './command.ts';
import { openForCommand } from './database.ts';
import { type CacheOptions, checkCacheOptions, removeFromCache } from './keys/cache.ts';
import { parseDuration, parseKeyId, parseKeyName } from './keys/arguments.ts';
import { type IssueOptions, issueKey } from './keys/issue.ts';
import { type LimitOptions, chooseLimits } from './keys/limits.ts';
import { listKeys, toTable } from './keys/list.ts';
import { withoutSecrets } from '../src/http/log.ts';
import { printable, printableJson } from './keys/printable.ts';
import { writePseudonyms } from './keys/pseudonyms.ts';
import { revokeKey } from './keys/revoke.ts';
import { rotateKey } from './keys/rotate.ts';
import { NO_PAGEID } from './keys/shown-limits.ts';
import { toTheMinute } from './keys/times.ts';

const ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const examples = (...lines: string[]) =>
  ['', 'Examples:', ...lines.map((line) => `  npm run keys -- ${line}`)].join('\n');

/** An option that can be given several times. */
function names(flags: string, description: string): Option {
  return new Option(flags, `${description}; repeatable`).argParser(
    (name: string, others?: readonly string[]) => {
      if (name === '') throw new UserError(`${flags.split(' ')[0]}: is empty`);
      return [...new Set(others).add(name)];
    },
  );
}

/** An option `--no-…` that is not the opposite of another. */
const without = (flag: string, description: string) =>
  Object.assign(new Option(flag, description), { negate: false });

const REMOTE = new Option(
  '--remote',
  'clear the cache of the deployed service, as the Cloudflare user that wrangler is logged in as',
);

const ENVIRONMENT = new Option(
  '--env <name>',
  "with --remote: the deployed service's environment in wrangler.toml",
);

const lifetime = (text: string) => parseDuration('--expires', text);

const program = commandLine('npm run keys --')
  .description('Manages the API keys of accounts.')
  // commander quotes arguments
  .configureOutput({ outputError: (text, write) => write(withoutSecrets(text)) })
  .addHelpText(
    'after',
    `
The database is DATABASE_URL, or else that of the npm start that is running on DATA_DIR (.data). Only issue migrates it.
A service may accept a cached key for up to 5 minutes after the key has ended. Therefore revoke and rotate clear the
cache of npm start in DATA_DIR or, with --remote, of the deployed service.
npm prints two lines before the result: for a script or a file, use npm run --silent keys -- …`,
  );

program
  .command('issue')
  .description('Issues a key and prints it. Only its hash is stored, so it cannot be shown again.')
  .option('--email <email>', 'the account')
  .option('--create-account', 'create the account if it does not exist')
  .option('--name <name>', 'what the key is for', parseKeyName, 'API key')
  .option(
    '--expires <duration>',
    'when it stops working, such as 90d, 12h or 30m (default: never)',
    lifetime,
  )
  .option('--json', 'print the key with its id, prefix, times and limits, as JSON')
  .optionsGroup('A limited key sees only what all of these leave (docs/keys.md):')
  .addOption(names('--survey <name>', 'this survey'))
  .addOption(names('--form <shortcode>', 'forms with this shortcode'))
  .addOption(names('--question <ref>', 'responses to this question'))
  .addOption(names('--without-question <ref>', 'no responses to this question'))
  .addOption(names('--metadata <key>', 'this key of the metadata'))
  .addOption(without('--no-metadata', 'no metadata').conflicts('metadata'))
  .addOption(without('--no-pageid', NO_PAGEID))
  .option('--pseudonyms', "pseudonyms in place of the participants' ids")
  .addOption(
    new Option('--pseudonyms-of <id>', 'the same pseudonyms as another key of the account')
      .argParser((id) => parseKeyId(id, '--pseudonyms-of'))
      .conflicts('pseudonyms'),
  )
  .option('--force', 'allow surveys, forms and questions that the account does not have yet')
  .addHelpText(
    'after',
    examples(
      'issue --email ann@example.org',
      'issue --email ann@example.org --name "Nightly pull" --expires 90d',
      'issue --email ann@example.org --survey "Health 2026" --no-metadata --no-pageid --pseudonyms',
    ),
  )
  .hook('preAction', needs('--email'))
  .action(
    async ({
      expires,
      json,
      ...options
    }: IssueOptions & LimitOptions & { expires?: number; json?: boolean }) => {
      if (options.createAccount) checkEmail(options.email);
      const database = await openForCommand({ needsMigrations: false });
      const limits = await chooseLimits(database.url, { ...options, onNotice: note });
      const key = await issueKey(database.url, {
        ...options,
        limits,
        expiresInMs: expires,
        onNotice: note,
      });

      print(json ? printableJson(key) : key.key);
    },
  );

program
  .command('list')
  .description('Lists the keys with their ids, which rotate and revoke take. Times are UTC.')
  .option('--email <email>', "only this account's keys")
  .option('--json', 'print an array of objects, with times to the millisecond')
  .addHelpText('after', examples('list', 'list --email ann@example.org --json'))
  .action(async ({ email, json }: { email?: string; json?: boolean }) => {
    const database = await openForCommand();
    const keys = await listKeys(database.url, email);
    if (json) print(printableJson(keys));
    else if (keys.length > 0) process.stdout.write(toTable(keys));
    else
      note(
        email === undefined
          ? 'There are no keys.'
          : `The account "${printable(email)}" has no keys.`,
      );
  });

program
  .command('rotate')
  .description(
    'Issues a key that replaces another, and prints it. The old key works for a grace period.',
  )
  .argument(
    '<id>',
    'the old key, as "list" shows it; it must not be rotated already, revoked or expired',
    parseKeyId,
  )
  .option(
    '--grace <duration>',
    'how long the old key still works, unless it expires earlier; 0 ends it now',
    '24h',
  )
  .option(
    '--expires <duration>',
    'when the new key stops working (default: as long as the old one was issued for)',
    lifetime,
  )
  .addOption(REMOTE)
  .addOption(ENVIRONMENT)
  .option('--json', 'print the key with its id, prefix and times, and what it replaces, as JSON')
  .addHelpText(
    'after',
    examples(
      `rotate ${ID}`,
      `rotate ${ID} --grace 7d --expires 90d`,
      `rotate ${ID} --grace 0 --remote`,
    ),
  )
  .action(
    async (
      id: string,
      options: CacheOptions & { grace: string; expires?: number; json?: boolean },
    ) => {
      const graceMs = parseDuration('--grace', options.grace, { orZero: true });
      checkCacheOptions(options);
      const database = await openForCommand();
      const { rotated, oldHash } = await rotateKey(database.url, id, {
        graceMs,
        expiresInMs: options.expires,
      });

      // Printed before anything else can fail: the key cannot be shown again.
      print(options.json ? printableJson(rotated) : rotated.key);
      const { replaces, expires } = rotated;
      const oldEnd =
        graceMs === 0 ? 'no longer works' : `works until ${toTheMinute(replaces.expires)}`;
      const newEnd = expires ? `, the new one until ${toTheMinute(expires)}` : '';
      note(`The old key (${printable(replaces.prefix)}…) ${oldEnd}${newEnd}.`);
      await clearCache(
        oldHash,
        options,
        'The key is rotated, but the old one could not be removed from the cache',
        'the old key may work for up to 5 minutes from now, even if it should end earlier',
      );
    },
  );

program
  .command('revoke')
  .description(
    'Ends a key at once and for good. If it is revoked already, only clears the cache again.',
  )
  .argument('<id>', 'the key, as "list" shows it', parseKeyId)
  .addOption(REMOTE)
  .addOption(ENVIRONMENT)
  .option('--json', 'print the key as JSON')
  .addHelpText('after', examples(`revoke ${ID}`, `revoke ${ID} --remote --env staging`))
  .action(async (id: string, options: CacheOptions & { json?: boolean }) => {
    checkCacheOptions(options);
    const database = await openForCommand();
    const { revoked, wasRevoked, hash } = await revokeKey(database.url, id);
    const { name, prefix, email } = revoked;
    const before = wasRevoked ? `, already at ${toTheMinute(revoked.revoked)}` : '';
    print(
      options.json
        ? printableJson(revoked)
        : printable(`revoked ${id} (${name}, ${prefix}…) of ${email}${before}`),
    );

    await clearCache(
      hash,
      options,
      'The key is revoked in the database, but could not be removed from the cache',
      'it stops working within 5 minutes everywhere. Run the command again to retry',
    );
  });

program
  .command('pseudonyms')
  .description(
    'Prints the participants of a survey that a key sees, with their pseudonyms, as CSV.',
  )
  .argument('<id>', 'the key, as "list" shows it; it may be revoked or expired', parseKeyId)
  .option('--survey <name>', 'the survey')
  .addHelpText(
    'after',
    `\nExample:\n  npm run --silent keys -- pseudonyms ${ID} --survey "Health 2026" > pseudonyms.csv`,
  )
  .hook('preAction', needs('--survey'))
  .action(async (id: string, { survey }: { survey: string }) => {
    const database = await openForCommand();
    const write = (records: string) =>
      new Promise<boolean>(
        (resolve) => void process.stdout.write(records, (error) => resolve(!error)),
      );
    await writePseudonyms(database.url, id, survey, write);
  });

for (const command of program.commands)
  command.showHelpAfterError(helpOf(`npm run keys -- ${command.name()}`));
await runCommand(() => program.parseAsync());

/**
 * @param problem what to report if it fails, when the database has been changed already. @param
 * consequence what that means
 */
async function clearCache(
  hash: string,
  options: CacheOptions,
  problem: string,
  consequence: string,
): Promise<void> {
  await removeFromCache(hash, options).catch((error: unknown) => {
    throw new UserError(`${problem} (${messageOf(error)}): ${consequence}.`);
  });

  if (process.env['DATABASE_URL'] && !options.remote)
    note(
      'A deployed service may take up to 5 minutes to notice: its cache was not touched. --remote clears it.',
    );
}

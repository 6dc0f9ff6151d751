// npm run verify:neon: tests a database and its SQL-over-HTTP endpoint.
import { commandLine, runCommand, UserError } from './command.ts';
import { Progress } from './progress.ts';
import { summaryOf } from './verify/run-checks.ts';
import { verifyNeon } from './verify-neon/verify-neon.ts';

interface Options {
  readonly database?: string;
  readonly endpoint?: string;
  readonly rolePassword?: string;
}

const program = commandLine('npm run verify:neon --')
  .description(
    'Tests whether a Neon database and its SQL endpoint behave as the service expects, in a schema and with a role of a ' +
      'random name, which it removes afterwards.',
  )
  .option(
    '--database <url>',
    "URL of the database's owner, visible to other users of this machine: prefer DATABASE_URL",
  )
  .option('--endpoint <url>', 'SQL endpoint, if it is not the one that Neon has for the host of the database')
  .option('--role-password <text>', 'the one password that the endpoint accepts: for the local stand-in, not for Neon')
  .addHelpText(
    'after',
    `
Prints one line for each statement. "FAILS": the service would not work. "differs": the endpoint differs from the stand-in
that the service is tested with, in a detail that the service does not depend on; please report it. The exit status is 1 if
something fails. Transfers about 75 MB from the database. Tables of the service that are in the database are not touched.

Example:
  DATABASE_URL="postgresql://owner:…@ep-….neon.tech/neondb?sslmode=require" npm run verify:neon`,
  )
  .action(async ({ database = process.env['DATABASE_URL'], endpoint, rolePassword }: Options) => {
    if (!database) throw new UserError("DATABASE_URL: expected the URL of the database's owner");
    if (endpoint !== undefined && !/^https?:\/\/./.test(endpoint))
      throw new UserError('--endpoint: expected a URL such as https://api.eu-central-1.aws.neon.tech/sql');
    const interruption = new AbortController();
    const interrupt = () => interruption.abort(new UserError('interrupted'));
    // Only the first Ctrl-C: a second one ends the process at once.
    process.once('SIGINT', interrupt);
    process.once('SIGTERM', interrupt);
    using progress = new Progress(process.stderr);
    const results = await verifyNeon(database, {
      endpoint,
      rolePassword,
      log(line) {
        progress.clear();
        process.stdout.write(`${line}\n`);
      },
      progress: (text) => progress.update(() => `… ${text}`),
      signal: interruption.signal,
    });
    process.stdout.write(`${summaryOf(results)}.\n`);
    if (results.some(({ outcome }) => outcome === 'FAILS')) process.exitCode = 1;
  });

await runCommand(async () => {
  await program.parseAsync();
});

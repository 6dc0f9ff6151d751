// npm run db:import: loads files in the service's own export formats for an account.
import { isAbsolute, join, relative } from 'node:path';
import { Command } from 'commander';
import { runCommand, UserError } from './command.ts';
import { openDatabase } from './database.ts';
import { type ImportInput, importFiles } from './import/import-files.ts';
import { reportProgress } from './import/progress.ts';
import { inWords } from './import/summary.ts';

const program = new Command('npm run db:import --')
  .description(
    "Loads survey responses from files in the service's own export formats: all of them or, if anything in the files is " +
      'not as it should be, nothing. The message then names the line.',
  )
  .requiredOption('--email <address>', 'account the responses are for; made if there is none')
  .requiredOption('--forms <file>', 'form versions, as /responses/form-data exports them (.csv or .csv.gz)')
  .requiredOption('--responses <file>', 'responses, as /responses/csv exports them (.csv or .csv.gz)')
  .allowExcessArguments(false)
  .addHelpText(
    'after',
    `
The files may be loaded again: rows that are stored already stay as they are, or get the file's values where those
differ. Nothing is ever deleted. Timestamps may be of either form: 2026-03-01T00:03:43.770Z, 2026-03-01 00:03:43.770047+00.

The database is the one of DATABASE_URL or else the embedded one of DATA_DIR (.data). It is migrated first.

Example:
  npm run db:import -- --email ann@example.org --forms form-data.csv --responses responses.csv.gz`,
  )
  .action((options: ImportInput) => importWithReports(options));

await runCommand(async () => {
  await program.parseAsync();
});

async function importWithReports({ email, forms, responses }: ImportInput): Promise<void> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw new UserError(`--email: ${JSON.stringify(email)} is not an e-mail address`);
  const input = { email, forms: fromWhereNpmWasCalled(forms), responses: fromWhereNpmWasCalled(responses) };
  const progress = reportProgress(process.stderr);
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new UserError('interrupted: nothing was loaded'));
  // Once only: a second Ctrl-C ends the process at once. The database then rolls back as it loses the connection.
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    await using database = await openDatabase();
    const summary = await importFiles(database.url, input, {
      signal: interruption.signal,
      onProgress: progress.update,
    });
    progress.end();
    process.stdout.write(inWords(summary, email));
  } finally {
    progress.end();
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** npm runs scripts in the project's folder, wherever in it or below it was called; a relative path means the latter. */
function fromWhereNpmWasCalled(path: string): string {
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
  if (isAbsolute(path) || script !== 'db:import' || folder === undefined) return path;
  return join(relative(process.cwd(), folder), path);
}

// npm run db:import: loads files in the service's own export formats for an account.
import { isAbsolute, join, relative } from 'node:path';
import { commandLine, counted, needs, runCommand, UserError } from './command.ts';
import { checkEmail } from './accounts.ts';
import { openForCommand } from './database.ts';
import type { Counts } from './import/forms.ts';
import { type ImportInput, type ImportSummary, importFiles } from './import/import-files.ts';
import { openInput } from './import/input-file.ts';
import { startProgress } from './progress.ts';

const program = commandLine('npm run db:import --')
  .description(
    "Loads survey responses from files in the service's own export formats: everything, or nothing if a file has an " +
      'error. The error message names the line.',
  )
  .option('--email <address>', 'account to load the responses for; created if it does not exist')
  .option('--forms <file>', 'form versions, as exported by /responses/form-data')
  .option('--responses <file>', 'responses, as exported by /responses/csv')
  .option('--dry-run', 'check the files and report what would change, but store nothing')
  .addHelpText(
    'after',
    `
Files: CSV in UTF-8, plain or gzip, with the export's columns in any order.
Timestamps look like 2026-03-01T00:03:43.770Z or 2026-03-01 00:03:43.770047+00. An empty field is null; an empty text is
written "". Import the files as they were exported, without safe=true, which adds apostrophes: spreadsheets round long ids
and drop zeros before numbers.

You can load the same files again. Rows that are already stored take the file's values if these differ. Nothing is
deleted; "npm run db:remove" does that.

E-mail addresses match regardless of case. The database is DATABASE_URL, or else that of the npm start
that is running on DATA_DIR (.data).
It is migrated first, except with --dry-run.

Examples:
  npm run db:import -- --email ann@example.org --forms form-data.csv --responses responses.csv.gz
  npm run db:import -- --email ann@example.org --forms form-data.csv --responses responses.csv.gz --dry-run`,
  )
  .hook('preAction', needs('--email', '--forms', '--responses'))
  .action(importWithReports);

await runCommand(() => program.parseAsync());

async function importWithReports({
  email,
  forms,
  responses,
  dryRun = false,
}: ImportInput & { dryRun?: boolean }) {
  checkEmail(email);
  for (const [option, path] of Object.entries({ '--forms': forms, '--responses': responses }))
    if (path === '') throw new UserError(`${option}: is empty: expected the path of a file`);
  const input = { email, forms: fromCallersFolder(forms), responses: fromCallersFolder(responses) };
  // A wrong path is reported whether there is a database or not.
  await openInput(input.forms);
  await openInput(input.responses);
  const interruption = new AbortController();
  // Only the first Ctrl-C: a second one ends the process at once, and Postgres rolls back when it
  // loses the connection.
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () =>
      interruption.abort(new UserError('interrupted: nothing was loaded')),
    );
  const database = await openForCommand({ needsMigrations: dryRun });
  using report = startProgress(process.stderr);
  let current = '';
  let start = 0;
  const summary = await importFiles(database.url, input, {
    dryRun,
    signal: interruption.signal,
    onProgress(phase, progress) {
      if (phase !== current) start = performance.now();
      current = phase;
      report.update(
        () => `${phase}: ${progress}, ${Math.round((performance.now() - start) / 1000)} s`,
      );
    },
    onNotice(notice) {
      report.clear();
      process.stderr.write(`${notice}\n`);
    },
  });

  report.clear();
  process.stdout.write(format(summary, dryRun));
}

/** The result of an import, in lines for the terminal. */
function format(
  { email, isNewAccount, forms, responses }: ImportSummary,
  isDryRun: boolean,
): string {
  const isNothingNew =
    !isNewAccount && [forms, responses].every((counts) => counts.new + counts.changed === 0);
  const lines = [
    `${isNewAccount ? 'new account' : 'account'} ${email}`,
    formatCounts('form version', forms),
    formatCounts('response', responses),
    ...(isNothingNew ? ['nothing changed: all rows were already stored'] : []),
    ...(isDryRun ? ['dry run: nothing was stored'] : []),
  ];

  return lines.map((line) => `${line}\n`).join('');
}

function formatCounts(noun: string, { new: added, changed, unchanged }: Counts): string {
  const [a, b, c] = [added, changed, unchanged].map((count) => count.toLocaleString('en-US'));
  return `${counted(added + changed + unchanged, noun)}: ${a} new, ${b} changed, ${c} unchanged`;
}

/**
 * npm runs scripts in the project's folder; relative paths start from the folder where npm was
 * called.
 */
function fromCallersFolder(path: string): string {
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
  if (isAbsolute(path) || script !== 'db:import' || folder === undefined) return path;
  return join(relative(process.cwd(), folder), path);
}

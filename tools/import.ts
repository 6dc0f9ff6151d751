// npm run db:import: loads responses for an account, from files or from a running service.
import { resolve } from 'node:path';
import { commandLine, counted, needs, runCommand, UserError } from './command.ts';
import { InvalidArgumentError, Option } from 'commander';
import { type Microseconds, parseInstant } from '../src/responses/timestamp.ts';
import { checkEmail } from './accounts.ts';
import { openForCommand } from './database.ts';
import type { Counts } from './import/forms.ts';
import { type CopyInput, copySurveys, type SurveyCopy } from './import/copy-surveys.ts';
import {
  type ImportInput,
  type ImportOptions,
  type ImportSummary,
  importFiles,
} from './import/import-files.ts';
import { openInput } from './import/input-file.ts';
import { openSource } from './import/source.ts';
import { printable } from './keys/printable.ts';
import { startProgress } from './progress.ts';

const program = commandLine('npm run db:import --')
  .description(
    "Loads survey responses: from files in the service's own export formats (all rows or none), or from a running service.",
  )
  .option('--email <address>', 'account to load the responses for; created if it does not exist')
  .option('--forms <file>', 'form versions, as exported by /responses/form-data')
  .option('--responses <file>', 'responses, as exported by /responses/csv')
  .addOption(new Option('--from <url>', 'service to copy from').conflicts(['forms', 'responses']))
  .option('--survey <name...>', 'with --from: surveys to copy; by default all')
  .option('--since <time>', 'with --from: the time of the first responses to copy', parseTime)
  .option('--dry-run', 'check the files and report what would change, but store nothing')
  .addHelpText(
    'after',
    `
Files: CSV in UTF-8, plain or gzip, as they were exported, without safe=true: spreadsheets round long ids and drop zeros.
An empty field is null; an empty text is written "".

Stored rows take the new values if these differ. Nothing is deleted; "npm run db:remove" does that.

--from takes the key for that service from SURVEY_SOURCE_KEY.

The database is DATABASE_URL, or else that of the npm start that is running on DATA_DIR (.data). It is migrated first,
except with --dry-run.

Example:
  npm run db:import -- --email ann@example.org --forms form-data.csv --responses responses.csv.gz`,
  )
  .hook('preAction', (_, command) => {
    const { from, survey, since } = command.opts<Partial<CopyArguments>>();
    const isCopy = (from ?? survey ?? since) !== undefined;
    needs('--email', ...(isCopy ? ['--from'] : ['--forms', '--responses']))(_, command);
  })
  .action(withReports);

await runCommand(() => program.parseAsync());

interface CopyArguments extends CopyInput {
  from: string;
}

function parseTime(text: string): Microseconds {
  const time = parseInstant(text);
  if (time === undefined) throw new InvalidArgumentError('Expected a time such as 2026-03-01.');
  return time;
}

async function withReports(
  given: { dryRun?: boolean } & (CopyArguments | (ImportInput & { from?: undefined })),
): Promise<void> {
  const { email, dryRun = false } = given;
  checkEmail(email);
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupted = given.from === undefined ? ': nothing was loaded' : '';
  // Only the first Ctrl-C: a second one ends the process at once, and Postgres rolls back when it
  // loses the connection.
  for (const name of ['SIGINT', 'SIGTERM'])
    process.once(name, () => interruption.abort(new UserError(`interrupted${interrupted}`)));
  // A wrong path or URL is reported whether there is a database or not.
  const work = given.from === undefined ? await fileImport(given) : copy(given, signal);
  const database = await openForCommand({ needsMigrations: dryRun });
  using report = startProgress(process.stderr);
  let current = '';
  let start = 0;
  const lines = await work(database.url, {
    dryRun,
    signal,
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

  if (dryRun) lines.push('dry run: nothing was stored');
  report.clear();
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

type Work = (url: string, options: Required<ImportOptions>) => Promise<string[]>;

async function fileImport({ email, forms, responses }: ImportInput): Promise<Work> {
  for (const [option, path] of Object.entries({ '--forms': forms, '--responses': responses }))
    if (path === '') throw new UserError(`${option}: is empty: expected the path of a file`);
  const input = { email, forms: fromCallersFolder(forms), responses: fromCallersFolder(responses) };
  await openInput(input.forms);
  await openInput(input.responses);
  return async (url, options) => format(await importFiles(url, input, options));
}

function copy({ from, ...input }: CopyArguments, signal: AbortSignal): Work {
  const source = openSource(from, (process.env['SURVEY_SOURCE_KEY'] ?? '').trim(), signal);
  return async (url, options) => {
    const copies = await copySurveys(url, source, input, options);
    if (copies.some(({ error, refused }) => error !== undefined || refused > 0))
      process.exitCode = 1;
    return copies.map(formatCopy);
  };
}

function formatCopy({ name, forms, responses, refused, missing = 0, error }: SurveyCopy): string {
  const parts = [
    formatCounts('form version', forms),
    formatCounts('response', responses),
    ...(refused > 0 ? [`${counted(refused, 'response')} left out`] : []),
    ...(missing > 0 ? [`${counted(missing, 'stored response')} not in the source`] : []),
    ...(error === undefined ? [] : [`FAILED: ${error}`]),
  ];

  return printable(`${name}: ${parts.join('; ')}`);
}

/** The result of an import, in lines for the terminal. */
function format({ email, isNewAccount, forms, responses }: ImportSummary): string[] {
  const isNothingNew =
    !isNewAccount && [forms, responses].every((counts) => counts.new + counts.changed === 0);
  return [
    `${isNewAccount ? 'new account' : 'account'} ${email}`,
    formatCounts('form version', forms),
    formatCounts('response', responses),
    ...(isNothingNew ? ['nothing changed: all rows were already stored'] : []),
  ];
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
  return script === 'db:import' && folder !== undefined ? resolve(folder, path) : path;
}

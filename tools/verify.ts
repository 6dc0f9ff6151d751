// npm run verify: tests a deployed service through its public interface.
import { once } from 'node:events';
import { commandLine, note, print, runCommand, UserError } from './command.ts';
import { openForCommand } from './database.ts';
import { startProgress } from './progress.ts';
import { IssuedKeys } from './verify/issued-keys.ts';
import { summaryOf, verify } from './verify/verify.ts';

const program = commandLine('npm run verify --')
  .description(
    'Tests what a deployment can break in a running service. It only reads, unless --revocation is given.',
  )
  .option(
    '--url <url>',
    'address of the service, such as https://export.example.org (default: SURVEY_EXPORT_URL)',
  )
  .option(
    '--key <key>',
    'API key, visible to other users of this machine: prefer SURVEY_EXPORT_KEY',
  )
  .option(
    '--survey <name>',
    'survey to read, about eight times; by default one of at most 100,000 responses',
  )
  .option(
    '--revocation',
    'also tests revocation and aborted transfers, for up to 6 minutes: issues two keys and revokes them',
  )
  .addHelpText(
    'after',
    `
Prints one line for each statement that holds, fails or was not tested, with the time that it took. The exit status is 1 if
one fails. Without a key, only what needs no key is tested.

Environment variables, besides SURVEY_EXPORT_URL and SURVEY_EXPORT_KEY:
  SURVEY_EXPORT_KEY_2  API key of another account, to test that neither key sees the other's surveys
  DATABASE_URL         with --revocation: the service's database, as its owner (default: that of the npm start on DATA_DIR)

Examples:
  npm run verify -- --url http://127.0.0.1:8787
  SURVEY_EXPORT_KEY=sres_… npm run verify -- --url https://export.example.org --survey "Pilot study"
  SURVEY_EXPORT_KEY=sres_… DATABASE_URL=postgresql://… npm run verify -- --url https://export.example.org --revocation`,
  )
  .action(
    async (options: { url?: string; key?: string; survey?: string; revocation?: boolean }) => {
      const { env } = process;
      const {
        url = env['SURVEY_EXPORT_URL'] ?? '',
        survey: surveyName,
        revocation = false,
      } = options;
      // SURVEY_KEY and SURVEY_KEY_2 are the names of earlier versions.
      const key = options.key ?? (env['SURVEY_EXPORT_KEY'] || env['SURVEY_KEY'] || undefined);
      const otherKey = env['SURVEY_EXPORT_KEY_2'] || env['SURVEY_KEY_2'] || undefined;
      const { protocol = '', origin = '' } = URL.parse(url) ?? {};
      if (!/^https?:$/.test(protocol))
        throw new UserError(
          '--url or SURVEY_EXPORT_URL: expected the address of the service, such as https://export.example.org',
        );
      if (revocation && key === undefined)
        throw new UserError('--revocation: needs SURVEY_EXPORT_KEY in the environment');
      const database = revocation ? await openForCommand() : undefined;
      await using issuedKeys = database && new IssuedKeys(database.url);
      // Only the first Ctrl-C: a second one ends the process at once.
      const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(
        () => {
          throw new UserError('interrupted');
        },
      );

      using line = startProgress(process.stderr);
      const progress = (text: string) => line.update(() => `… ${text}`);
      const log = (text: string) => {
        line.clear();
        print(text);
      };

      if (key !== undefined && /^http:\/\/(?!localhost|127\.|\[::1\])/.test(origin))
        note('Your key is sent without encryption: use https:// for anything but a test.');
      log(
        `Testing ${origin} ${key === undefined ? 'without a key: what needs one is not tested' : 'with a key'}`,
      );

      const running = verify(origin, { key, otherKey, surveyName, issuedKeys, log, progress });
      const results = await Promise.race([running, interrupted]);
      log(`${summaryOf(results)}.`);
      if (results.some(({ outcome }) => outcome === 'FAILS')) process.exitCode = 1;
    },
  );

await runCommand(() => program.parseAsync());
process.exit(); // after an interruption, transfers are still running

// npm run verify: tests a running service through its public interface.
import { commandLine, runCommand, UserError } from './command.ts';
import { Progress } from './verify/progress.ts';
import { summaryOf } from './verify/run-checks.ts';
import { originOf, verify } from './verify/verify.ts';

interface Options {
  readonly url?: string;
  readonly key?: string;
  readonly survey?: string;
}

const program = commandLine('npm run verify --')
  .description('Tests a running service, local or deployed, the way its clients use it. It only reads.')
  .option('--url <url>', 'address of the service, such as https://export.example.org')
  .option('--key <key>', 'API key; SURVEY_KEY in the environment hides it from other users of this machine')
  .option('--survey <name>', 'survey to read, several times; by default one of at most 100,000 responses')
  .addHelpText(
    'after',
    `
Prints one line for each statement that holds, fails or was not tested, with the time that it took. The exit status is 1 if
one fails. Without a key, only what needs no key is tested.

Examples:
  npm run verify -- --url http://127.0.0.1:8787
  SURVEY_KEY=sres_… npm run verify -- --url https://export.example.org --survey "Pilot study"`,
  )
  .action(async ({ url, key = process.env['SURVEY_KEY'], survey: surveyName }: Options) => {
    if (url === undefined)
      throw new UserError('--url: expected the address of the service, such as https://export.example.org');
    if (surveyName !== undefined && !key)
      throw new UserError('--survey: needs --key, or SURVEY_KEY in the environment');
    using progress = new Progress(process.stderr);
    const write = (line: string) => {
      progress.clear();
      process.stdout.write(`${line}\n`);
    };
    const origin = originOf(url);
    if (key && origin.startsWith('http:') && !/^http:\/\/(?:localhost|127\.|\[::1\])/.test(origin))
      process.stderr.write('Your key is sent without encryption: use https:// for anything but a test.\n');
    write(`Testing ${origin} ${key ? 'with a key' : 'without a key: what needs one is not tested'}`);
    const { results, roundTrips } = await verify(origin, {
      key: key || undefined,
      surveyName,
      log: write,
      progress: (text) => progress.update(text),
    });
    write(`${summaryOf(results)}. ${roundTrips}`);
    if (results.some(({ outcome }) => outcome === 'FAILS')) process.exitCode = 1;
  });

await runCommand(async () => {
  await program.parseAsync();
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startDatabase } from '../support/database.ts';
import { refusal } from '../support/expected.ts';
import { runHere } from '../support/run-here.ts';

test.each([
  ['migrate.ts', 'nonsense', '--help'],
  ['start.ts', '--nonsense', '--help'],
  ['keys.ts', 'issue --nonsense', 'issue --help'],
])('%s refuses "%s", and names its help in one line: %s', async (tool, args, help) => {
  const message = new RegExp(
    `^error: .*nonsense.*\nSee "npm [^"]+ -- ${help}"\\. Options follow the "--"\\.\n$`,
  );
  expect(await runHere(tool, args)).toEqual(refusal(message));
});

test.each([
  ['import.ts', '', ['--email', '--forms', '--responses', 'DATABASE_URL', 'Example']],
  ['start.ts', '', ['PORT', 'DATA_DIR', 'DATABASE_URL']],
  ['keys.ts', 'issue', ['Usage: npm run keys -- issue ', '\nExamples:\n  npm run keys -- issue']],
])('%s %s --help explains %j', async (tool, args, words) => {
  const { status, stdout, stderr } = await runHere(tool, `${args} --help`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const word of words) expect(stdout).toContain(word);
});

const EMAIL = '--email ann@example.org';
const NO_DRY_RUN =
  'npm took --dry-run for itself: put it after "--", as in "npm run db:import -- --dry-run"';

test.each<[string, string, string, NodeJS.ProcessEnv?]>([
  ['import.ts', EMAIL, "error: required option '--forms <file>' not specified"],
  [
    'import.ts',
    `${EMAIL} --forms . --responses ""`,
    '--responses: is empty: expected the path of a file',
  ],
  ['import.ts', `${EMAIL} --forms nowhere --responses r`, 'nowhere: there is no such file'],
  ['import.ts', `${EMAIL} --forms . --responses r`, '.: is a directory, not a file'],
  ['import.ts', '', NO_DRY_RUN, { npm_config_dry_run: 'true' }],
  ['import.ts', `${EMAIL} --from a --forms f`, "'--from <url>' cannot be used with"],
  ['import.ts', `${EMAIL} --survey S`, "error: required option '--from <url>' not specified"],
  ['import.ts', `${EMAIL} --from a --since x`, "'--since <time>' argument 'x' is invalid"],
  ['import.ts', `${EMAIL} --from http://127.0.0.1:1`, 'SURVEY_SOURCE_KEY must be set'],
  ...['http://example.org', 'https://u:p@localhost', 'ftp://localhost'].map(
    (url): [string, string, string] => [
      'import.ts',
      `${EMAIL} --from ${url}`,
      '--from: expected an address',
    ],
  ),
  [
    'verify.ts',
    '--url a.b',
    '--url or SURVEY_EXPORT_URL: expected the address of the service, such as https:',
  ],
  [
    'verify.ts',
    '--url http://a.b --revocation',
    '--revocation: needs SURVEY_EXPORT_KEY in the environment',
  ],
  ['worker-url.ts', '', '(The embedded database serves npm start only.)', { DATABASE_URL: '' }],
])('%s %s is refused before it opens a database: %s', async (tool, args, message, env) => {
  const DATABASE_URL = 'postgres://127.0.0.1:1/nothing';
  const none = { SURVEY_EXPORT_KEY: '', SURVEY_SOURCE_KEY: ' ' };
  const outcome = await runHere(tool, args, { DATABASE_URL, ...none, ...env });
  expect(outcome).toEqual(refusal(message));
});

test.runIf(process.platform === 'linux')(
  'a command whose output cannot be written ends with one sentence, or silently if nobody reads it',
  async () => {
    const { url } = await startDatabase();
    const run = async (stdout: 'pipe' | number) => {
      const script = fileURLToPath(new URL('../../tools/keys.ts', import.meta.url));
      const env = { ...process.env, DATABASE_URL: url };
      const child = spawn(process.execPath, [script, 'list', '--json'], {
        env,
        stdio: ['ignore', stdout, 'pipe'],
      });
      child.stdout?.destroy();
      const [stderr] = await Promise.all([child.stderr?.toArray(), once(child, 'close')]);
      return { status: child.exitCode, stderr: stderr?.join('') };
    };
    const { host, pathname } = new URL(url);
    const named = `Database: Postgres ${host}${pathname}\n`;
    const full = `${named}Cannot write to stdout: ENOSPC: no space left on device, write\n`;
    expect(await run(openSync('/dev/full', 'w'))).toEqual({ status: 1, stderr: full });
    expect(await run('pipe')).toEqual({ status: 1, stderr: named });
  },
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startDatabase } from '../support/database.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runHere } from '../support/run-here.ts';

test.each([
  ['migrate.ts', ['nonsense'], '--help'],
  ['start.ts', ['--nonsense'], '--help'],
  ['keys.ts', ['issue', '--nonsense'], 'issue --help'],
])('%s refuses %j, and names its help in one line: %s', async (tool, args, help) => {
  const { status, stdout, stderr } = await runHere(tool, args, {});
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^error: .*nonsense.*\nSee "npm [^"]+ -- .*--help"\. Options follow the "--"\.\n$/,
  );
  expect(stderr).toContain(` -- ${help}"`);
});

test.each([
  ['import.ts', [], ['--email', '--forms', '--responses', 'DATABASE_URL', 'Example']],
  ['start.ts', [], ['PORT', 'DATA_DIR', 'DATABASE_URL']],
  ['keys.ts', ['issue'], ['Usage: npm run keys -- issue ', '\nExamples:\n  npm run keys -- issue']],
])('%s %j --help explains %j', async (tool, args, words) => {
  const { status, stdout, stderr } = await runHere(tool, [...args, '--help'], {});
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const word of words) expect(stdout).toContain(word);
});

const EMAIL = ['--email', 'ann@example.org'];
const NO_DRY_RUN =
  'npm took --dry-run for itself: put it after "--", as in "npm run db:import -- --dry-run"';

const NO_DATABASE =
  'There is no database to use: set DATABASE_URL, or let "npm start" (or "npm run dev") run on';
const WITHOUT = { DATABASE_URL: '', DATA_DIR: await newFolder() };

test.each<[string, string[], string, NodeJS.ProcessEnv?]>([
  ['migrate.ts', [], NO_DATABASE, WITHOUT],
  ['remove.ts', [...EMAIL, '--survey', 'x'], NO_DATABASE, WITHOUT],
  ['import.ts', EMAIL, "error: required option '--forms <file>' not specified"],
  [
    'import.ts',
    [...EMAIL, '--forms', '.', '--responses', ''],
    '--responses: is empty: expected the path of a file',
  ],
  [
    'import.ts',
    [...EMAIL, '--forms', 'nowhere', '--responses', 'r'],
    'nowhere: there is no such file',
  ],
  ['import.ts', [...EMAIL, '--forms', '.', '--responses', 'r'], '.: is a directory, not a file'],
  ['import.ts', [], NO_DRY_RUN, { npm_config_dry_run: 'true' }],
  [
    'verify.ts',
    ['--url', 'a.b'],
    '--url or SURVEY_EXPORT_URL: expected the address of the service, such as https:',
  ],
  [
    'verify.ts',
    ['--url', 'http://a.b', '--revocation'],
    '--revocation: needs SURVEY_EXPORT_KEY in the environment',
  ],
  ['worker-url.ts', [], '(The embedded database serves npm start only.)', { DATABASE_URL: '' }],
])('%s %j is refused before it opens a database: %s', async (tool, args, message, env = {}) => {
  const variables = {
    DATABASE_URL: 'postgres://127.0.0.1:1/nothing',
    SURVEY_EXPORT_KEY: '',
    ...env,
  };
  const { status, stdout, stderr } = await runHere(tool, args, variables);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(message);
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

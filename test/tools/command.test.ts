import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startDatabase } from '../support/database.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';

test.each([
  ['migrate.ts', ['nonsense']],
  ['import.ts', ['--nonsense']],
  ['remove.ts', ['--nonsense']],
  ['worker-url.ts', ['--nonsense']],
  ['verify.ts', ['--nonsense']],
  ['keys.ts', ['issue', '--nonsense']],
])('%s refuses %j, and names its help in one line', async (tool, args) => {
  const { status, stdout, stderr } = await runHere(tool, args, {});
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^error: .*nonsense.*\nSee "npm run [^"]+ -- --help"\. Options follow the "--"\.\n$/);
});

test.each([
  ['import.ts', '--forms <file>'],
  ['remove.ts', '--survey <name>'],
])('%s refuses to run without %s', async (tool, option) => {
  const { status, stdout, stderr } = await startTool(tool, ['--email', 'ann@example.org'], {}).outcome;
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(`error: required option '${option}' not specified\n`);
});

test('a command refuses --dry-run before the --, which npm takes for itself', async () => {
  expect(await runHere('import.ts', [], { npm_config_dry_run: 'true' })).toEqual({
    status: 1,
    stdout: '',
    stderr: 'npm took --dry-run for itself: put it after "--", as in "npm run db:import -- --dry-run"\n',
  });
});

test.runIf(process.platform === 'linux')(
  'a command whose output cannot be written ends with one sentence, or silently if nobody reads it',
  async () => {
    const { url } = await startDatabase();
    const run = async (stdout: 'pipe' | number) => {
      const script = fileURLToPath(new URL('../../tools/keys.ts', import.meta.url));
      const env = { ...process.env, DATABASE_URL: url };
      const child = spawn(process.execPath, [script, 'list', '--json'], { env, stdio: ['ignore', stdout, 'pipe'] });
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

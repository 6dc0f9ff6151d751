import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startDatabase } from '../support/database.ts';
import { startTool } from '../support/run-tool.ts';

const COMMANDS = ['migrate.ts', 'import.ts', 'remove.ts', 'worker-url.ts', 'deploy.ts', 'verify.ts'];

test.each<[string, readonly string[]]>([
  ...COMMANDS.map((tool): [string, string[]] => [tool, ['--nonsense']]),
  ['keys.ts', ['issue', '--nonsense']],
  ['migrate.ts', ['nonsense']],
])('%s refuses %j, and names its help in one line', async (tool, args) => {
  const { status, stdout, stderr } = await startTool(tool, args, {}).outcome;
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^error: .*nonsense.*\nSee "npm run [^"]+ -- --help"\. Options follow the "--"\.\n$/);
});

// What all commands run does this.
test.each(['import.ts', 'start.ts'])('%s refuses --dry-run before the --, which npm takes for itself', async (tool) => {
  const env = { npm_config_dry_run: 'true', DATA_DIR: '/dev/null/x' };
  expect(await startTool(tool, [], env).outcome).toEqual({
    status: 1,
    stdout: '',
    stderr: 'npm took --dry-run for itself: put it after "--", as in "npm run db:import -- --dry-run"\n',
  });
});

describe('a command whose output', () => {
  const run = async (url: string, stdout: 'pipe' | number) => {
    const script = fileURLToPath(new URL('../../tools/keys.ts', import.meta.url));
    const child = spawn(process.execPath, [script, 'list', '--json'], {
      env: { ...process.env, DATABASE_URL: url },
      stdio: ['ignore', stdout, 'pipe'],
    });
    child.stdout?.destroy();
    const [stderr] = await Promise.all([text(child.stderr as NonNullable<typeof child.stderr>), once(child, 'close')]);
    return { status: child.exitCode, stderr };
  };

  test.runIf(process.platform === 'linux')(
    'cannot be written ends with one sentence, or silently if nobody reads it',
    async () => {
      const database = await startDatabase();
      const { host, pathname } = new URL(database.url);
      const named = `Database: Postgres ${host}${pathname}\n`;
      expect(await run(database.url, openSync('/dev/full', 'w'))).toEqual({
        status: 1,
        stderr: `${named}Cannot write to stdout: ENOSPC: no space left on device, write\n`,
      });
      expect(await run(database.url, 'pipe')).toEqual({ status: 1, stderr: named });
      await database.stop();
    },
  );
});

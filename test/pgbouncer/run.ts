// npm run pgbouncer: the API tests, and those in this folder, with PgBouncer between the SQL-over-HTTP endpoint and Postgres.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand, UserError } from '../../tools/command.ts';
import { findPgBouncer, versionOf } from '../support/pgbouncer.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

await runCommand(async () => {
  const program = findPgBouncer();
  if (program === undefined)
    throw new UserError('pgbouncer is not installed: nothing was tested. On Debian: apt-get install pgbouncer');
  process.stdout.write(`${versionOf(program)}, transaction mode\n`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawn(process.execPath, [vitest, 'run', '--config', 'test/pgbouncer/vitest.config.ts'], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = (await once(run, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
});

import { type ChildProcess, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnKilledWithParent } from '../../tools/kill-with-parent.ts';
import { chownTree, serverUser } from '../../tools/postgres/os-user.ts';
import { query, WORKER_LOGIN } from './database.ts';
import { freePort } from './npm-start.ts';
import { newFolder } from './once-per-run.ts';

/**
 * Starts PgBouncer as Neon does, in transaction mode:
 * https://github.com/neondatabase/neon/blob/main/compute/etc/pgbouncer.ini It stops when this
 * process ends.
 *
 * @param databaseUrl URL of a migrated database
 * @returns the URL of the Worker's role through PgBouncer
 */
export async function startPgBouncer(databaseUrl: string): Promise<string> {
  process.env['PATH'] += ':/usr/sbin'; // where Debian installs it
  const version = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  const direct = new URL(databaseUrl);
  const user = await serverUser(); // like Postgres, it refuses to run as root
  const folder = await newFolder();
  const port = await freePort();
  await writeFile(join(folder, 'users'), `"${WORKER_LOGIN.user}" "${WORKER_LOGIN.password}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${direct.hostname} port=${direct.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users')}
pool_mode = transaction
max_client_conn = 10000
default_pool_size = 64
${/ 1\.(?:1\d|20)\b/.test(version) ? '' : 'max_prepared_statements = 0'}
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
`,
  );

  await chownTree(folder, user);
  const child = spawnKilledWithParent('pgbouncer', ['--quiet', join(folder, 'pgbouncer.ini')], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    onParentExit: 'QUIT',
  });

  const { user: username, password } = WORKER_LOGIN;
  const { href } = Object.assign(direct, { port: String(port), username, password });
  await untilReady(href, child);
  return href;
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    try {
      return void (await query(url, 'select 1'));
    } catch (error) {
      if (child.exitCode !== null || (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED')
        throw error;
    }
  }
}

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withConnection } from '../../tools/connection.ts';
import { chownTree, serverUser } from '../../tools/postgres/os-user.ts';
import { createCluster, PASSWORD_FILE } from '../../tools/postgres/cluster.ts';
import { findPrograms } from '../../tools/postgres/programs.ts';
import { startServer } from '../../tools/postgres/server.ts';
import { newFolder, oncePerRun } from './once-per-run.ts';

/**
 * Text sorts by ICU's root collation, which is deliberately neither byte order nor the order of
 * JavaScript strings: code that confuses its own order with the database's fails.
 */
const INITDB_ARGS = ['--locale=C', '--locale-provider=icu', '--icu-locale=und', '--no-sync'];

/** Nothing is durable, since no data outlives the run. */
const SETTINGS = {
  max_connections: '50',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};

/**
 * Starts a Postgres server on a free port of 127.0.0.1. It stops when this process ends, however it
 * ends; its data is removed then.
 *
 * @param options.settings settings of postgresql.conf, which override those for tests
 */
export async function startPostgres(options: { settings?: Record<string, string> } = {}) {
  const user = await serverUser();
  const programs = await findPrograms(user);
  // initdb takes longer than starting the server
  const template = await oncePerRun('postgres', async (draft) => {
    await chownTree(draft, user);
    await createCluster(join(draft, 'data'), programs, INITDB_ARGS);
  });

  const data = await newFolder();
  execFileSync('cp', ['-a', `${template}/data/.`, data]); // fs.cp does not keep the owners
  const password = await readFile(join(data, PASSWORD_FILE), 'utf8');

  const start = (more?: { port: string }) => {
    const settings = { ...SETTINGS, ...options.settings, ...more };
    return startServer({ ...programs, data, settings, onParentExit: 'QUIT' });
  };

  let server = await start();
  const url = `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`;
  let stopped: Promise<void> | undefined;
  return {
    /** Superuser URL of the database `postgres`. */
    url,
    /** Process id of the postmaster. */
    get pid() {
      return server.pid;
    },
    /** Creates an empty database and returns its superuser URL. */
    async createDatabase(): Promise<string> {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await withConnection(url, (client) => client.query(`create database ${name}`));
      return new URL(`/${name}`, url).href;
    },
    /**
     * Stops the server, breaking open connections, and starts it again with the same data and port.
     */
    async restart(): Promise<void> {
      await server.stop('SIGINT'); // an immediate shutdown may lose the last commits
      server = await start({ port: String(server.port) });
    },
    /**
     * Stops the server at once, breaking open connections, and removes its files. May be called
     * twice.
     */
    stop: (): Promise<void> =>
      (stopped ??= server.stop('SIGQUIT').then(() => rm(data, { recursive: true, force: true }))),
  };
}

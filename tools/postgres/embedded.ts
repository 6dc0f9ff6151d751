import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { reasonOf, UserError } from '../command.ts';
import { reasonIn } from './cluster.ts';
import { type DataFolder, inPlainWords, openDataFolder } from './data-folder.ts';
import { findPostmaster, isAlive, type Postmaster } from './postmaster.ts';
import { type Server, StartError, startServer } from './server.ts';

// Several processes may use a data directory at a time. Postgres' own lock, postmaster.pid, allows one server on it.
//
// - The process that started the server stops it. If that process is killed, kill-with-parent.ts stops the server.
// - The server is started with the setting STARTED_BY, which names that process.
// - A command uses a server that is already running. Meanwhile, one of its connections holds a shared advisory lock. A
//   command that started the server takes that lock exclusively before it stops the server with a smart shutdown, so that
//   it waits for the others. It keeps the lock until postmaster.pid shows the shutdown: a command that gets the shared
//   lock and then finds the server ready can rely on it.
// - npm start needs a server that no other process stops. It waits for a server that a command has started to stop, and
//   fails if another npm start has one. When it ends, it stops the server with a fast shutdown.

/** `npm start` runs a server for as long as it runs itself; a command also uses one that is already running. */
export type Role = 'service' | 'command';

export interface EmbeddedDatabase extends AsyncDisposable {
  /** `postgres://` URL of the superuser, with the password. */
  readonly url: string;
  /** Rejects if the server has ended unexpectedly and this process started it. */
  readonly ended: Promise<never>;
}

/** The outcome of an attempt: a database, or what to wait for. */
type Attempt = EmbeddedDatabase | { readonly waitFor: string };

interface Starter {
  readonly pid: number;
  readonly role: Role;
  readonly name: string;
}

const STARTED_BY = 'survey_export.started_by';
/** An arbitrary number, the same in all versions of this service: "SRED" in ASCII. */
const ADVISORY_LOCK = 0x53524544;

const POLL_MS = 100;
const NOTICE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 15_000;
/** Time for a fast shutdown, which writes a checkpoint. After that, the server is killed and the next start recovers. */
const FAST_SHUTDOWN_MS = 2_000;

/**
 * Opens the database in `<dataDir>/postgres`. Creates it if it is missing, and starts its server if none is running.
 *
 * @param options.signal cancels
 * @throws UserError
 */
export async function openEmbedded(
  dataDir: string,
  { role, signal }: { role: Role; signal?: AbortSignal | undefined },
): Promise<EmbeddedDatabase> {
  const folder = await openDataFolder(dataDir, signal);
  const since = Date.now();
  for (let noticed = ''; ; await sleep(POLL_MS, undefined, signal && { signal })) {
    signal?.throwIfAborted();
    const postmaster = await findPostmaster(folder.data);
    const attempt = await (postmaster ? use(postmaster, folder, role) : start(folder, dataDir, role));
    if ('url' in attempt) return attempt;
    if (Date.now() - since > NOTICE_MS && attempt.waitFor !== noticed) notice((noticed = attempt.waitFor));
  }
}

async function start(folder: DataFolder, dataDir: string, role: Role): Promise<Attempt> {
  try {
    const server = await startServer({
      ...folder,
      settings: { [STARTED_BY]: JSON.stringify(thisProcess(role)) },
      onParentExit: 'INT',
    });
    return ownDatabase(server, folder, role);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    // Another process was faster, or processes of a killed server have not ended yet.
    if (/lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(error.message))
      return { waitFor: `the server in ${folder.data}` };
    const reason = reasonIn(error.message);
    throw inPlainWords(new Error(`Postgres did not start on ${folder.data}: ${reason}`, { cause: error }), dataDir);
  }
}

function ownDatabase(server: Server, folder: DataFolder, role: Role): EmbeddedDatabase {
  const url = urlOf(folder, server);
  let stopping = false;
  const ended = server.ended.then((log) => {
    if (stopping) return new Promise<never>(() => {});
    throw new UserError(`Postgres has ended unexpectedly: ${log.split('\n').at(-1)}`);
  });
  ended.catch(() => {});
  return {
    url,
    ended,
    async [Symbol.asyncDispose]() {
      stopping = true;
      await (role === 'service' ? stopFast(server) : stopWhenUnused(server, url, folder));
    },
  };
}

async function stopFast(server: Server): Promise<void> {
  const timer = setTimeout(() => void server.stop('SIGQUIT'), FAST_SHUTDOWN_MS);
  await server.stop('SIGINT');
  clearTimeout(timer);
}

/** Waits for the commands that use the server, then stops it. */
async function stopWhenUnused(server: Server, url: string, folder: DataFolder): Promise<void> {
  const timer = setTimeout(notice, NOTICE_MS, 'the other programs that use the database');
  const client = clientFor(url);
  try {
    await client.connect();
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
  } catch {
    // The server is already stopping, or accepts no more connections.
  }
  const ended = server.stop('SIGTERM');
  while (await isReady(server, folder)) await sleep(POLL_MS);
  await client.end().catch(() => {});
  await ended;
  clearTimeout(timer);
}

/** Tries to use a server that another process has started. */
async function use(postmaster: Postmaster, folder: DataFolder, role: Role): Promise<Attempt> {
  const inTransition = { waitFor: `Postgres (process ${postmaster.pid}), which is starting or shutting down` };
  if (!postmaster.isReady) return inTransition;
  const url = urlOf(folder, postmaster);
  const client = clientFor(url);
  await using connection = new AsyncDisposableStack();
  connection.defer(() => client.end());
  try {
    await client.connect();
    const starter = await starterOf(client);
    const name = `process ${starter.pid} (${starter.name})`;
    if (!isAlive(starter.pid)) {
      process.kill(postmaster.pid, 'SIGINT');
    } else if (role === 'service') {
      if (starter.role === 'command') return { waitFor: `${name} to end` };
      throw new UserError(`${folder.data} is in use by ${name}: end it, or set DATA_DIR to another folder`);
    } else if ((await share(client)) && (await isReady(postmaster, folder))) {
      const sharing = connection.move();
      return { url, ended: new Promise(() => {}), [Symbol.asyncDispose]: () => sharing.disposeAsync() };
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (await isReady(postmaster, folder))
      throw new UserError(`Postgres (process ${postmaster.pid}) refuses a connection: ${reasonOf(error)}`, {
        cause: error,
      });
  }
  return inTransition;
}

async function starterOf(client: Client): Promise<Starter> {
  const { rows } = await client.query<{ starter: string }>('select current_setting($1) as starter', [STARTED_BY]);
  return JSON.parse(rows[0]?.starter ?? '') as Starter;
}

async function share(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ shared: boolean }>('select pg_try_advisory_lock_shared($1) as shared', [
    ADVISORY_LOCK,
  ]);
  return rows[0]?.shared === true;
}

/** Whether the same server still accepts connections. */
async function isReady({ pid }: { pid: number }, { data }: DataFolder): Promise<boolean> {
  const now = await findPostmaster(data);
  return now?.pid === pid && now.isReady;
}

function thisProcess(role: Role): Starter {
  const script = process.env['npm_lifecycle_event'];
  const command = script === undefined ? `node ${basename(process.argv[1] ?? '')}` : `npm run ${script}`;
  return { pid: process.pid, role, name: role === 'service' ? 'npm start' : command };
}

function urlOf({ password }: DataFolder, { port }: { port: number }): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

function clientFor(url: string): Client {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => {}); // a lost connection fails the running query
  return client;
}

function notice(waitFor: string): void {
  process.stderr.write(`Waiting for ${waitFor} …\n`);
}

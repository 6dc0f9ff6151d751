import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { commandName, messageOf, UserError } from '../command.ts';
import { reasonIn } from './cluster.ts';
import { type DataFolder, hasDatabase, inPlainWords, openDataFolder } from './data-folder.ts';
import { findPostmaster, isAlive, type Postmaster } from './postmaster.ts';
import { type Server, StartError, startServer } from './server.ts';

// Several processes may use a data directory at a time. Postgres' own lock, postmaster.pid, allows one server on it.
//
// - The process that started the server stops it. If that process is killed, kill-with-parent.ts stops the server.
// - The server is started with the setting STARTED_BY, which names that process.
// - A command uses the server of npm start if there is one. Commands that start a server themselves run one after the other.
// - npm start needs a server that no other process stops. It waits for a server that a command has started to stop, and
//   fails if another npm start has one.

/** `npm start` always starts its own server; a command also uses that of `npm start`. */
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
const POLL_MS = 100;
const NOTICE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 15_000;
/** Time that npm start has for a fast shutdown, which writes a checkpoint. Then the server is killed and the next start recovers. */
const SHUTDOWN_MS = 2_000;

/**
 * Opens the database in `<dataDir>/postgres`. Creates it if it is missing, and starts its server if none is running.
 *
 * @param options.signal cancels opening it
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

/** @throws UserError if npm start could not use `dataDir` because another process holds its data. Nothing is started or created */
export async function checkNotInUse(dataDir: string): Promise<void> {
  if (!(await hasDatabase(dataDir))) return;
  const folder = await openDataFolder(dataDir);
  const postmaster = await findPostmaster(folder.data);
  if (postmaster) await use(postmaster, folder, 'service');
}

async function start(folder: DataFolder, dataDir: string, role: Role): Promise<Attempt> {
  try {
    const server = await startServer({
      ...folder,
      settings: { [STARTED_BY]: JSON.stringify({ pid: process.pid, role, name: commandName() } satisfies Starter) },
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
      await (role === 'service' ? stopInTime(server) : server.stop('SIGINT'));
    },
  };
}

async function stopInTime(server: Server): Promise<void> {
  const timer = setTimeout(() => void server.stop('SIGQUIT'), SHUTDOWN_MS);
  await server.stop('SIGINT');
  clearTimeout(timer);
}

/** Tries to use a server that another process has started. */
async function use(postmaster: Postmaster, folder: DataFolder, role: Role): Promise<Attempt> {
  const inTransition = { waitFor: `Postgres (process ${postmaster.pid}), which is starting or shutting down` };
  if (!postmaster.isReady) return inTransition;
  const url = urlOf(folder, postmaster);
  const starter = await starterOf(url).catch(async (error: unknown) => {
    if (!(await isReady(postmaster, folder))) return undefined;
    throw new UserError(`Postgres (process ${postmaster.pid}) refuses a connection: ${messageOf(error)}`, {
      cause: error,
    });
  });
  if (!starter) return inTransition;
  const instead = 'end it, or set DATA_DIR to another folder';
  if (starter === 'unknown')
    throw new UserError(
      `${folder.data} is in use by process ${postmaster.pid}, a Postgres server that this service did not start: ${instead}`,
    );
  const name = `process ${starter.pid} (${starter.name})`;
  if (!isAlive(starter.pid)) {
    process.kill(postmaster.pid, 'SIGINT');
    return inTransition;
  }
  if (starter.role === 'command') return { waitFor: `${name} to end` };
  if (role === 'service') throw new UserError(`${folder.data} is in use by ${name}: ${instead}`);
  return { url, ended: new Promise(() => {}), [Symbol.asyncDispose]: async () => {} };
}

async function starterOf(url: string): Promise<Starter | 'unknown'> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => {}); // a lost connection fails the running query
  try {
    await client.connect();
    const { rows } = await client.query<{ starter: string | null }>('select current_setting($1, true) as starter', [
      STARTED_BY,
    ]);
    const starter = rows[0]?.starter;
    return starter ? (JSON.parse(starter) as Starter) : 'unknown';
  } finally {
    await client.end();
  }
}

/** Whether the same server still accepts connections. */
async function isReady({ pid }: { pid: number }, { data }: DataFolder): Promise<boolean> {
  const now = await findPostmaster(data);
  return now?.pid === pid && now.isReady;
}

function urlOf({ password }: DataFolder, { port }: { port: number }): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

function notice(waitFor: string): void {
  process.stderr.write(`Waiting for ${waitFor} …\n`);
}

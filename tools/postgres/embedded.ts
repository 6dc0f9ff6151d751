import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../command.ts';
import { withConnection } from '../connection.ts';
import { PASSWORD_FILE, reasonIn } from './cluster.ts';
import { inPlainWords, openDataFolder } from './data-folder.ts';
import { type Server, StartError, startServer } from './server.ts';

/**
 * What Postgres reports while another server has the data directory, or has left processes that use
 * it.
 */
const IN_USE = /lock file "postmaster.pid" already exists|pre-existing shared memory block/;
/** What it reports while another server starts, or after one has crashed then. */
const IS_STARTING = /lock file "postmaster.pid" is empty/;
/** Time that the server of a killed `npm start`, which kill-with-parent.ts stops, has to end. */
const WAIT_MS = 10_000;
const POLL_MS = 500;
/**
 * Time for a fast shutdown, which writes a checkpoint. Then the server is killed, and the next
 * start recovers.
 */
const SHUTDOWN_MS = 2_000;

/**
 * Starts the server of the database in `<dataDir>/postgres`, and creates the database if it is
 * missing. Postgres itself allows one server on it.
 *
 * @param signal cancels it
 * @returns the database; `ended` rejects when its server ends, and disposing of it stops the server
 * @throws UserError
 */
export async function startEmbedded(dataDir: string, signal?: AbortSignal) {
  const folder = await openDataFolder(dataDir, signal);
  for (
    const deadline = Date.now() + WAIT_MS;
    ;
    await sleep(POLL_MS, undefined, signal && { signal })
  ) {
    try {
      const server = await startServer({ ...folder, onParentExit: 'INT' });
      return {
        url: urlOf(folder.password, server.port),
        description: embeddedName(dataDir),
        ended: endOf(server),
        async [Symbol.asyncDispose]() {
          const timer = setTimeout(() => void server.stop('SIGQUIT'), SHUTDOWN_MS);
          await server.stop('SIGINT');
          clearTimeout(timer);
        },
      };
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      const canWait = Date.now() <= deadline;
      if (!IN_USE.test(error.message) && !(canWait && IS_STARTING.test(error.message))) {
        const message = `Postgres did not start on ${dataDir}: ${reasonIn(error.message)}`;
        throw inPlainWords(new Error(message, { cause: error }), dataDir);
      }

      if (!canWait) throw inUse(dataDir, /\(PID (\d+)\)/.exec(error.message)?.[1]);
    }
  }
}

/** @throws UserError if `npm start` is running on `dataDir` */
export async function checkNotInUse(dataDir: string): Promise<void> {
  const server = await findServer(dataDir);
  if (server) throw inUse(dataDir, server.pid);
}

const inUse = (dataDir: string, pid: string | number = 'unknown') =>
  new UserError(
    `${dataDir} is in use by Postgres (process ${pid}): stop its npm start, or set DATA_DIR to another folder`,
  );

function endOf(server: Server): Promise<never> {
  const ended = server.ended.then((log): never => {
    throw new UserError(`Postgres has ended unexpectedly: ${log.split('\n').at(-1)}`);
  });

  ended.catch(() => {}); // nobody waits for it any more when the server is shut down
  return ended;
}

/**
 * What no server means: errors of Node.js, and SQLSTATEs
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html) of a server that is starting or
 * shutting down, and of another one that has got the port.
 */
const NO_SERVER = new Set(['ENOENT', 'ESRCH', 'EPERM', 'ECONNREFUSED', '57P03', '28P01']);

/**
 * Finds the server of the `npm start` that is running on `dataDir`, in the file that Postgres keeps
 * while it runs: postmaster.pid (https://www.postgresql.org/docs/current/storage-file-layout.html),
 * whose lines are described in its source, in src/include/utils/pidfile.h. After a crash the file
 * is still there, and another process may have its process id or port.
 *
 * @returns the process id of the postmaster, and the superuser's URL; undefined if no server
 * accepts connections
 * @throws UserError if this user may not read `dataDir`, or it is a file
 */
export async function findServer(
  dataDir: string,
): Promise<{ pid: number; url: string } | undefined> {
  const data = join(resolve(dataDir), 'postgres');
  try {
    const [pid, , , port] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 0);
    const url = urlOf(await readFile(join(data, PASSWORD_FILE), 'utf8'), Number(port));
    await withConnection(url, async () => {});
    return { pid: Number(pid), url };
  } catch (error) {
    if (NO_SERVER.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw inPlainWords(error, dataDir);
  }
}

/** `postgres://` URL of the superuser. @param port on 127.0.0.1 */
const urlOf = (password: string, port: number) =>
  `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;

/** The name of the database of `npm start` in messages. */
export const embeddedName = (dataDir: string) => `embedded Postgres in ${dataDir}`;

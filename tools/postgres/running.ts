import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { withConnection } from '../connection.ts';
import { PASSWORD_FILE } from './cluster.ts';
import { inPlainWords } from './data-folder.ts';

/**
 * What no server means: errors of Node.js, and SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) of a server
 * that is starting or shutting down, and of another one that has got the port.
 */
const NO_SERVER = new Set(['ENOENT', 'ESRCH', 'EPERM', 'ECONNREFUSED', '57P03', '28P01']);

/**
 * Finds the server of the `npm start` that is running on `dataDir`, in the file that Postgres keeps while it runs: postmaster.pid
 * (https://www.postgresql.org/docs/current/storage-file-layout.html), whose lines are described in its source, in
 * src/include/utils/pidfile.h. After a crash the file is still there, and another process may have
 * its process id or port.
 *
 * @returns the process id of the postmaster, and the superuser's URL; undefined if no server accepts connections
 * @throws UserError if this user may not read `dataDir`, or it is a file
 */
export async function findServer(dataDir: string): Promise<{ pid: number; url: string } | undefined> {
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
export const urlOf = (password: string, port: number) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;

/** The name of the database of `npm start` in messages. */
export const embeddedName = (dataDir: string) => `embedded Postgres in ${dataDir}`;

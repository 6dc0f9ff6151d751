import { execFile } from 'node:child_process';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The server that runs on a data directory, as Postgres describes it in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Whether it accepts connections: it is neither starting nor shutting down. */
  readonly isReady: boolean;
}

/**
 * Reads `postmaster.pid` (https://www.postgresql.org/docs/current/storage-file-layout.html), whose lines Postgres's source describes in
 * src/include/utils/pidfile.h.
 *
 * After a crash, another program may have been given the process id. Postgres would then refuse to start, so the file is removed.
 *
 * @returns undefined if no server runs on `data`
 */
export async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const file = join(data, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!isAlive(pid)) return undefined;
  if (!(await isPostgres(pid, data))) {
    await removeIfStill(file, text);
    return undefined;
  }
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isPostgres(pid: number, data: string): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return command.then(
    (line) => line.includes(data),
    () => true, // unknown: keep its lock
  );
}

/** Puts the file back if it is a new server's: several processes may do this at once. */
async function removeIfStill(file: string, text: string): Promise<void> {
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, 'utf8')) !== text) await link(aside, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'EEXIST'].includes(code)) throw error;
  }
  await rm(aside, { force: true });
}

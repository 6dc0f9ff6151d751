import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The OS account that Postgres runs as, in the shape of `spawn`'s options. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root. Root therefore runs it as the owner of `folder`, or as `nobody` if that is root.
 *
 * @returns undefined for this process's own account
 */
export async function serverAccount(folder = '/'): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) return { uid, gid };
  return { uid: await idOfNobody('-u'), gid: await idOfNobody('-g') };
}

async function idOfNobody(flag: '-u' | '-g'): Promise<number> {
  const { stdout } = await run('id', [flag, 'nobody']);
  return Number(stdout);
}

/** @returns whether `account` can open what is in `folder`, an absolute path without symbolic links */
export async function canReach(folder: string, account: Account | undefined): Promise<boolean> {
  if (!account) return true;
  const { mode, uid } = await stat(folder);
  const mayEnter = (mode & 0o001) !== 0 || (uid === account.uid && (mode & 0o100) !== 0);
  return mayEnter && (dirname(folder) === folder || canReach(dirname(folder), account));
}

/** Makes `account` the owner of a file, or of a folder with everything in it. Does nothing for this process's own account. */
export async function chownTree(path: string, account: Account | undefined): Promise<void> {
  if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, path]);
}

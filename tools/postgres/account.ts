import { execFile } from 'node:child_process';
import { chown, lchown, lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

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
  const { stdout } = await promisify(execFile)('id', [flag, 'nobody']);
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
  if (!account) return;
  const entry = await lstat(path);
  if (entry.isSymbolicLink()) return lchown(path, account.uid, account.gid);
  await chown(path, account.uid, account.gid);
  if (!entry.isDirectory()) return;
  for (const name of await readdir(path)) await chownTree(join(path, name), account);
}

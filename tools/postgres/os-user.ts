import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The OS user that Postgres runs as, in the shape of `spawn`'s options. */
export interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root. Root therefore runs it as the owner of `folder`, or as `nobody`
 * if that is root.
 *
 * @returns undefined for this process's own user
 */
export async function serverUser(folder = '/'): Promise<OsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) return { uid, gid };
  const idOfNobody = async (flag: '-u' | '-g') =>
    Number((await run('id', [flag, 'nobody'])).stdout);
  return { uid: await idOfNobody('-u'), gid: await idOfNobody('-g') };
}

/** @returns whether `user` can open what is in `folder`, an absolute path without symbolic links */
export async function canReach(folder: string, user: OsUser | undefined): Promise<boolean> {
  if (!user) return true;
  const { mode, uid } = await stat(folder);
  const mayEnter = (mode & 0o001) !== 0 || (uid === user.uid && (mode & 0o100) !== 0);
  return mayEnter && (dirname(folder) === folder || canReach(dirname(folder), user));
}

/**
 * Makes `user` the owner of a file, or of a folder with everything in it. Does nothing for this
 * process's own user.
 */
export async function chownTree(path: string, user: OsUser | undefined): Promise<void> {
  if (user) await run('chown', ['-R', `${user.uid}:${user.gid}`, path]);
}

import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { format } from 'node:util';
import { messageOf, UserError } from '../command.ts';
import { canReach, chownTree, serverUser } from './os-user.ts';
import { createCluster, PASSWORD_FILE } from './cluster.ts';
import { findPrograms, type Programs, systemFolder } from './programs.ts';

/** Text sorts by code point. */
const INITDB_ARGS = ['--locale=C'];
const DRAFT = 'postgres.new-';
const CHOOSE = 'set DATA_DIR to another folder';

/**
 * Opens `<dataDir>/postgres`. Creates both folders, readable only by their owner, if they are
 * missing. If the server's user cannot reach `dataDir`, which happens only as root, `postgres` is a
 * symbolic link to a folder that it can reach.
 *
 * @returns its programs; the data directory, an absolute path without symbolic links; and the
 * superuser's password
 * @throws UserError if this service cannot use the folder or cannot create it
 */
export async function openDataFolder(dataDir: string, signal?: AbortSignal) {
  const link = join(resolve(dataDir), 'postgres');
  try {
    await createFolder(dataDir);
    const programs = await findPrograms(await serverUser(existsSync(link) ? link : dataDir));
    if (!existsSync(link)) await createData(dataDir, programs, signal);
    await checkVersion(link, programs.major);
    const data = await realpath(link);
    return { ...programs, data, password: await readFile(join(data, PASSWORD_FILE), 'utf8') };
  } catch (error) {
    throw inPlainWords(error, dataDir);
  }
}

/**
 * Creates `dataDir`, or makes an empty one private. Any other may be a shared folder and keeps its
 * permissions.
 */
async function createFolder(dataDir: string): Promise<void> {
  await mkdir(dataDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });

  if ((await readdir(dataDir)).length > 0) return;
  await chmod(dataDir, 0o700);
  const user = await serverUser(dataDir);
  if (user && (await canReach(join(await realpath(dataDir), '..'), user))) {
    await chown(dataDir, user.uid, user.gid);
  }
}

/**
 * Another `npm start` may do this at the same time: the first to rename or link its draft wins, and
 * removes all others.
 */
async function createData(
  dataDir: string,
  programs: Programs,
  signal?: AbortSignal,
): Promise<void> {
  const { user } = programs;
  const folder = await realpath(dataDir);
  const link = join(folder, 'postgres');
  const isReachable = await canReach(folder, user);
  const draft = await mkdtemp(
    isReachable ? join(folder, DRAFT) : join(await systemFolder(), 'data-'),
  );

  const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 5 });
  try {
    await chownTree(draft, user);
    await createCluster(draft, programs, INITDB_ARGS, signal);
    await (isReachable ? rename(draft, link) : symlink(draft, link));
  } catch (error) {
    await remove(draft);
    if (!existsSync(link)) throw error;
    return;
  }

  // also those of processes that were killed
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(DRAFT));
  await Promise.allSettled(drafts.map((name) => remove(join(folder, name))));
}

async function checkVersion(data: string, major: string): Promise<void> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    },
  );

  const isOurs = version !== undefined && existsSync(join(data, PASSWORD_FILE));
  if (isOurs && version.trim() === major) return;
  const found = isOurs
    ? `is a database of Postgres ${version.trim()}, and this version of the service brings Postgres ${major}`
    : 'is not a database of this version of the service';
  const advice =
    'to keep the data of another version, export it with that one, then import the files';
  throw new UserError(`${data} ${found}: move that folder away, or ${CHOOSE} (${advice})`);
}

const PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/ENOSPC|EDQUOT|No space left|wrote only/, 'the disk with %s is full: free some space, or'],
  [/EROFS|Read-only file system/, '%s is on a read-only file system:'],
  [
    /E(ACCES|PERM).*(mkdir|rename|symlink)|could not create.*Permission denied/,
    '%s cannot be written to by this user:',
  ],
  [/EACCES|EPERM|Permission denied/, '%s cannot be used by this user:'],
  [/(ENOENT|ENOTDIR).*mkdir/, 'the folder that contains %s does not exist: create it, or'],
  [/ENOTDIR|EEXIST/, '%s is a file:'],
];

/**
 * Explains an error of the file system, or one that Postgres reports. @returns other errors
 * unchanged
 */
export function inPlainWords(error: unknown, dataDir: string): unknown {
  if (error instanceof UserError) return error;
  const problem = PROBLEMS.find(([pattern]) => pattern.test(messageOf(error)))?.[1];
  if (problem === undefined) return error;
  return new UserError(format(`${problem} ${CHOOSE}`, resolve(dataDir)), { cause: error });
}

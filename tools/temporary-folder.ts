import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, UserError } from './command.ts';

/**
 * Creates an empty folder that only this user can read. Disposing of it removes it, with everything
 * in it.
 *
 * @throws UserError that names the folder for temporary files
 */
export async function makeTemporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'survey-export-')).catch((cause: unknown) => {
    throw new UserError(
      `${tmpdir()}, the folder for temporary files, cannot be written to: set TMPDIR to another one (${messageOf(cause)})`,
      { cause },
    );
  });

  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

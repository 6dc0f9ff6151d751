import { execFileSync } from 'node:child_process';
import { openDatabase } from '../../tools/database.ts';
import { oncePerRun } from './once-per-run.ts';

/**
 * Fills an empty `DATA_DIR` as the first command on it would have left it: with an empty embedded database. That takes
 * seconds, so tests of something else take a copy of one that the run has made.
 */
export async function putEmptyDatabase(dataDir: string): Promise<void> {
  const template = await oncePerRun('embedded database', async (folder) => {
    const database = await openDatabase({ DATA_DIR: folder });
    await database[Symbol.asyncDispose]();
  });
  execFileSync('cp', ['-a', `${template}/.`, dataDir]); // with the owners, which fs.cp does not keep
}

import { execFileSync } from 'node:child_process';
import { openDatabase } from '../../tools/database.ts';
import { oncePerRun } from './once-per-run.ts';

/**
 * Fills an empty `DATA_DIR` with an empty embedded database, as the first command that uses it would. Creating one takes
 * seconds, so this copies one that was created earlier in the run.
 */
export async function putEmptyDatabase(dataDir: string): Promise<void> {
  const template = await oncePerRun('embedded database', async (folder) => {
    const database = await openDatabase({ DATA_DIR: folder });
    await database[Symbol.asyncDispose]();
  });
  execFileSync('cp', ['-a', `${template}/.`, dataDir]); // fs.cp does not keep the owners
}

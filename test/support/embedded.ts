import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedDatabase } from '../../tools/embedded-database.ts';
import { oncePerRun } from './once-per-run.ts';

/** A folder for DATA_DIR, temporary. */
export interface DataFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Makes a data directory with an embedded database in it that is empty, as the first command to open it would have left it.
 * Making one takes seconds, so all but the tests of just that take a copy of the one that a run has made.
 *
 * @param prefix of the folder's name
 */
export async function emptyDataFolder(prefix: string): Promise<DataFolder> {
  const template = await oncePerRun('embedded database', async (folder) => {
    const database = await openEmbeddedDatabase(folder);
    await database.close('now');
  });
  const path = await mkdtemp(join(tmpdir(), prefix));
  cpSync(join(template, 'postgres'), join(path, 'postgres'), { recursive: true });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

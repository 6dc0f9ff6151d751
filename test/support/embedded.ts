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
 * Puts an embedded database into a data directory that has none: empty, as the first command to open it would have left it.
 * Making one takes seconds, so all but the tests of just that take a copy of the one that a run has made.
 */
export async function putEmptyDatabase(dataDir: string): Promise<void> {
  const template = await oncePerRun('embedded database', async (folder) => {
    const database = await openEmbeddedDatabase(folder);
    await database.close('when unused');
  });
  cpSync(join(template, 'postgres'), join(dataDir, 'postgres'), { recursive: true });
}

/** Makes a data directory with such a database in it. @param prefix of the folder's name */
export async function emptyDataFolder(prefix: string): Promise<DataFolder> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  await putEmptyDatabase(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

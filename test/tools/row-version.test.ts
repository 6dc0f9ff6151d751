import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowVersion } from '../../src/db/versions.ts';
import { openDatabase } from '../../tools/database.ts';
import { query } from '../support/two-databases.ts';

test('a row’s version does not outlive the server: a folder may have been put back meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'row-version-'));
  const versions = async () => {
    const database = await openDatabase({ DATA_DIR: folder });
    const { url } = database;
    await query(url, 'create table if not exists t as select 1 as id');
    const read = () => query<{ version: string }>(url, `select ${rowVersion('xmin, id')} as version from t`);
    const [first, second] = [await read(), await read()];
    await database.closeNow();
    expect(first).toEqual(second);
    return first[0]?.version;
  };
  expect(await versions()).not.toBe(await versions());
  await rm(folder, { recursive: true });
});

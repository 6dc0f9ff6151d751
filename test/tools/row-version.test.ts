import { expect, test } from 'vitest';
import { rowVersion } from '../../src/db/row-versions.ts';
import { openDatabase } from '../../tools/database.ts';
import { emptyDataFolder } from '../support/embedded.ts';
import { query } from '../support/database.ts';

test('a row’s version does not outlive the server: a folder may have been put back meanwhile', async () => {
  await using folder = await emptyDataFolder('row-version-');
  const versions = async () => {
    const database = await openDatabase({ DATA_DIR: folder.path });
    const { url } = database;
    await query(url, 'create table if not exists t as select 1 as id');
    const read = () => query<{ version: string }>(url, `select ${rowVersion('xmin, id')} as version from t`);
    const [first, second] = [await read(), await read()];
    await database.closeNow();
    expect(first).toEqual(second);
    return first[0]?.version;
  };
  expect(await versions()).not.toBe(await versions());
});

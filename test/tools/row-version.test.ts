import { expect, test } from 'vitest';
import { rowVersion } from '../../src/db/row-versions.ts';
import { query } from '../support/database.ts';
import { startPostgres } from '../support/postgres.ts';

test('a row’s version changes with a restart of the server: its files may have been restored meanwhile', async () => {
  const server = await startPostgres();
  await query(server.url, 'create table t as select 1 as id');
  const version = async () =>
    (await query<{ version: string }>(server.url, `select ${rowVersion('xmin, id')} as version from t`))[0]?.version;
  const before = await version();
  expect(await version()).toBe(before);
  await server.restart();
  expect(await version()).not.toBe(before);
  await server.stop();
});

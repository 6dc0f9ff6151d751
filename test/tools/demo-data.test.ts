import { expect, test } from 'vitest';
import { loadDemoData } from '../../tools/demo-data.ts';
import { dump, query, startDatabase } from '../support/database.ts';

const { url } = await startDatabase();

test('demo data are the same each time they are loaded, and only into a database without accounts', async () => {
  await loadDemoData(url);
  const before = await dump(url);
  await expect(loadDemoData(url)).rejects.toThrow('can only be loaded into an empty database');
  expect(await dump(url)).toEqual(before);
  await query(url, 'truncate users cascade');
  await loadDemoData(url);
  expect(await dump(url)).toEqual(before);
});

import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { migrate } from '../../tools/migrations.ts';
import { query } from '../support/database.ts';
import { csvOf, responseRow } from '../support/export-files.ts';
import { loadFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { startPostgres } from '../support/postgres.ts';

const EMAIL = 'ann@example.org';

const folder = await newFolder();
const postgres = await startPostgres();

afterAll(() => postgres.stop());

// First, while the server does not have the Worker's role.
test('on an empty database, a command that fails leaves no table and no role', async () => {
  const empty = await postgres.createDatabase();
  const schema = async () => [
    await query(
      empty,
      `select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`,
    ),
    await query(empty, 'select rolname, rolpassword from pg_authid order by 1'),
  ];
  const before = await schema();
  const bad = csvOf([responseRow(), responseRow({ surveyid: 'abc' })]);
  const noForms = 'surveyid,shortcode,survey_name,version,survey_created,metadata\n';
  await expect(loadFiles(empty, folder, { responses: bad })).rejects.toThrow('line 3: surveyid');
  await expect(loadFiles(empty, folder, { forms: noForms })).rejects.toThrow(
    'line 2: surveyid: "3f1c6c5e',
  );
  await expect(issueKey(empty, { email: EMAIL, name: 'key' })).rejects.toThrow(
    '"npm run db:import" creates one with its data, --create-account one without.',
  );
  expect(await schema()).toEqual(before);
});

test('a server older than Postgres 15, or of another make, is refused by its name', async () => {
  const old = await postgres.createDatabase();
  await migrate(old);
  const database = new URL(old).pathname.slice(1);
  // Found before those of pg_catalog.
  await query(
    old,
    `create function current_setting(text) returns text language sql as $$ select '140023' $$;
     create function version() returns text language sql as
       $$ select 'PostgreSQL 14.23 (Debian 14.23-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc 12.2.0, 64-bit' $$`,
  );
  await query(old, `alter database ${database} set search_path = public, pg_catalog`);
  await expect(openDatabase({ DATABASE_URL: old })).rejects.toThrow(
    'PostgreSQL 14.23 is too old: 15 or newer is required (DATABASE_URL)',
  );
  await query(
    old,
    `create or replace function version() returns text language sql as
       $$ select 'CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/09 16:31:20, go1.22.8)' $$`,
  );
  await expect(openDatabase({ DATABASE_URL: old })).rejects.toThrow(
    'CockroachDB CCL v24.3.1 is not PostgreSQL: PostgreSQL 15 or newer is required (DATABASE_URL)',
  );
});

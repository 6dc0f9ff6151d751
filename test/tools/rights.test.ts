import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf } from '../../tools/command.ts';
import { withConnection } from '../../tools/connection.ts';
import { openDatabase } from '../../tools/database.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { listKeys } from '../../tools/keys/list.ts';
import { rotateKey } from '../../tools/keys/rotate.ts';
import { checkMigrated, migrate } from '../../tools/migrations.ts';
import { removeSurvey } from '../../tools/remove/remove-survey.ts';
import { query } from '../support/database.ts';
import { csvOf, responseRow } from '../support/export-files.ts';
import { loadFiles } from '../support/load-files.ts';
import { freePort } from '../support/npm-start.ts';
import { newFolder } from '../support/once-per-run.ts';
import { startPostgres } from '../support/postgres.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';

const EMAIL = 'ann@example.org';

const folder = await newFolder();
const postgres = await startPostgres();

afterAll(() => postgres.stop());

/** Creates a user without rights. @returns the database's URL for it */
async function createUser(database: string, name: string): Promise<string> {
  await query(database, `create role ${name} login password 'p'`);
  return Object.assign(new URL(database), { username: name, password: 'p' }).href;
}

/** Grants what each error advises, until the command succeeds. @returns the statements */
async function followAdvice(database: string, command: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  for (;;) {
    try {
      await command();
      return statements;
    } catch (error) {
      const [, statement] =
        /owner, or run "(.*)" as a user who may\.$/.exec(messageOf(error)) ?? [];
      if (statement === undefined || statements.includes(statement)) throw error;
      await query(database, statement);
      statements.push(statement);
    }
  }
}

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

describe('a user who lacks a right is told which, by the command that needs it:', () => {
  test('npm run db:migrate and npm start, which create tables and a role', async () => {
    const empty = await postgres.createDatabase();
    const reader = await createUser(empty, 'reader');
    const stderrOf = (command: string) =>
      `The database user reader lacks CREATE on schema public, which ${command} needs: ` +
      `use the URL of the tables' owner, or run "grant create on schema public to reader" as a user who may.\n`;
    const env = { DATABASE_URL: reader, PORT: String(await freePort()) };
    const refusal = { status: 1, stdout: '' };
    expect(await runHere('migrate.ts', [], env)).toEqual({
      ...refusal,
      stderr: stderrOf('npm run db:migrate'),
    });
    expect(await startTool('start.ts', [], env).outcome).toEqual({
      ...refusal,
      stderr: stderrOf('npm start'),
    });
    expect(await followAdvice(empty, () => migrate(reader))).toEqual([
      'grant create on schema public to reader',
      'alter role reader createrole',
    ]);
    expect(await migrate(empty)).toEqual([]);
  });

  test.each([
    [
      'it may not use',
      'stranger',
      'revoke usage on schema public from public',
      '"\\$user", public',
    ],
    ['do not exist', 'owner', 'alter role owner set search_path = survey_export', 'survey_export'],
  ])('which schemas of the search_path %s', async (_, name, sql, path) => {
    const empty = await postgres.createDatabase();
    const user = await createUser(empty, name);
    await query(empty, sql);
    await expect(migrate(user)).rejects.toThrow(
      new RegExp(
        `^The database user ${name} has no schema in which .* can create tables: none of the search_path ` +
          `${path} exists and can be used. Create it, or run "grant usage, create on schema public to ${name}" as a user who may.$`,
      ),
    );
  });

  test('as Postgres words it where no statement can grant it', async () => {
    const database = await postgres.createDatabase();
    await migrate(database);
    const tenant = await createUser(database, 'tenant');
    await query(database, `delete from schema_migrations where name like '0002%'`);
    await query(database, 'drop index responses_by_participant');
    await query(
      database,
      'grant all on schema public to tenant; grant all on all tables in schema public to tenant',
    );
    await expect(migrate(tenant)).rejects.toThrow(
      /^The database user tenant lacks a right \(must be owner of table responses\), which .* needs: use the URL of the tables' owner\.$/,
    );
  });

  test('a database that is read-only', async () => {
    const empty = await postgres.createDatabase();
    const user = await createUser(empty, 'standby');
    await query(
      empty,
      'alter role standby set default_transaction_read_only = on; grant create on schema public to standby',
    );
    await expect(migrate(user)).rejects.toThrow(
      /^The database is read-only, but .* has to write \(cannot execute CREATE TABLE .*\): use the URL of the primary/,
    );
  });
});

describe('a user who gets what the errors advise can', () => {
  const url = new URL('/a-b', postgres.url).href;
  let key: string;
  beforeAll(async () => {
    await query(postgres.url, 'create database "a-b"');
    await loadFiles(url, folder);
    key = (await issueKey(url, { email: EMAIL, name: 'key' })).id;
    await query(url, 'revoke temporary on database "a-b" from public');
  });

  test.each<[string, (user: string) => Promise<unknown>, string]>([
    [
      'list_keys',
      (user) => listKeys(user, EMAIL),
      'select users, select api_keys, select api_key_uses',
    ],
    [
      'issue_key',
      (user) => issueKey(user, { email: 'new@example.org', createAccount: true, name: 'key' }),
      'select users, insert users, select api_keys, insert api_keys',
    ],
    [
      'rotate_key',
      (user) => rotateKey(user, key, { graceMs: 0 }),
      'select api_keys, update api_keys, select users, insert api_keys',
    ],
    [
      'import_files',
      (user) => loadFiles(user, folder, { responses: csvOf([responseRow({ userid: 'new' })]) }),
      'select users, temporary, select surveys, insert surveys, update surveys, select responses, insert responses, ' +
        'update responses',
    ],
    [
      'remove_survey',
      (user) => removeSurvey(user, { email: EMAIL, survey: 'Étude “1”' }, { isConfirmed: true }),
      'select users, select surveys, update surveys, select responses, delete responses, select survey_settings, ' +
        'delete survey_settings, delete surveys',
    ],
  ])('%s', async (name, command, rights) => {
    const user = await createUser(url, name);
    const expected = ['select schema_migrations', ...rights.split(', ')].map((text) => {
      const [right, table] = text.split(' ');
      return `grant ${right} on ${table ? `table ${table}` : 'database "a-b"'} to ${name}`;
    });
    const statements = await followAdvice(url, async () => {
      await withConnection(user, checkMigrated); // as the commands do that must not migrate
      await command(user);
    });
    expect(statements).toEqual(expected);
  });
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

import { afterAll, describe, expect, test, vi } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { postgresUrl } from '../../tools/database.ts';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { directHost, pooledHost } from '../../tools/neon-host.ts';
import { query } from '../support/database.ts';
import { startPostgres } from '../support/postgres.ts';
import { chooseLogin, setWorkerPassword, WORKER_ROLE } from '../../tools/worker-role.ts';
import { startTool } from '../support/run-tool.ts';

/** The URL that npm run db:worker-url prints for a host outside Neon. */
const newUrl = async (url: string) => (await withConnection(url, (client) => setWorkerPassword(client, url))).href;
const userOf = async (url: string) => (await query<{ user: string }>(url, 'select current_user as user'))[0]?.user;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

// Neon refuses a transaction that leaves a role without a password, or that gives one a hashed password:
// https://github.com/neondatabase/neon/blob/main/pgxn/neon/neon_ddl_handler.c
test('an owner who is no superuser, as on Neon, gives the role a password, in plain text, whenever a transaction ends', async () => {
  await query(postgres.url, `create role neon_owner login createrole createdb password 'owner'`);
  await query(postgres.url, 'create database neondb owner neon_owner');
  const owner = { username: 'neon_owner', password: 'owner', pathname: '/neondb' };
  const url = Object.assign(new URL(postgres.url), owner).href;
  expect(await migrate(url)).toContain('0001_initial.sql'); // in one transaction
  const select = `select rolpassword like 'SCRAM-SHA-256$%' as "hasPassword" from pg_authid where rolname = $1`;
  expect(await query(postgres.url, select, [WORKER_ROLE])).toEqual([{ hasPassword: true }]);

  await withConnection(url, async (client) => {
    const sent = vi.spyOn(client, 'query');
    await setWorkerPassword(client, url);
    expect(sent.mock.calls).toEqual([[expect.stringMatching(/^alter role \w+ password '[\w-]{32}'$/)]]);
  });
  const first = await newUrl(url);
  expect(await userOf(first)).toBe(WORKER_ROLE);
  expect(await userOf(await newUrl(url))).toBe(WORKER_ROLE);
  await expect(query(first, 'select')).rejects.toThrow('password authentication failed');
  expect(await databaseProblems(url)).toEqual([]);
  await query(postgres.url, 'drop database neondb with (force)'); // the role has rights in it
  await query(postgres.url, `drop role ${WORKER_ROLE}`);
});

// These run in order: the first one needs a server without the role.
describe('npm run deploy checks a database, and', async () => {
  const url = await postgres.createDatabase();
  afterAll(async () => {
    await query(postgres.url, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
    await query(postgres.url, `drop role ${WORKER_ROLE}`);
  });

  test('names every migration, and the role, before it is migrated', async () => {
    expect(await databaseProblems(url)).toEqual([
      expect.stringMatching(/lacks the migrations 0001_initial\.sql, 0002.*npm run db:migrate/),
      expect.stringContaining('has no role survey_export_worker'),
    ]);
  });

  test('finds no problems once it is migrated, and only those migrations that were not applied', async () => {
    await migrate(url);
    expect(await databaseProblems(url)).toEqual([]);
    await query(url, `delete from schema_migrations where name like '0002%'`);
    expect(await databaseProblems(url)).toEqual([expect.stringMatching(/lacks the migrations 0002_[\w.]+;/)]);
    await query(url, `insert into schema_migrations (name) values ('0002_responses_by_participant.sql')`);
  });

  test('lets the role read only some columns of a table', async () => {
    await query(url, 'revoke select on users from survey_export_worker');
    await query(url, 'grant select (id, email) on users to survey_export_worker');
    expect(await databaseProblems(url)).toEqual([]);
    await query(url, 'grant select on users to survey_export_worker');
  });

  test('names what a migration was not allowed to set, because another user had created the role', async () => {
    await query(url, `create role other_tenant login password 'p'`);
    await query(url, 'create database tenants owner other_tenant');
    const tenant = Object.assign(new URL(url), { username: 'other_tenant', password: 'p', pathname: '/tenants' }).href;
    await query(url, 'alter role survey_export_worker reset all');
    await migrate(tenant);
    expect(await databaseProblems(tenant)).toEqual(
      [
        'enable_bitmapscan',
        'enable_seqscan',
        'statement_timeout',
        'idle_in_transaction_session_timeout',
        'max_parallel_workers_per_gather',
        'client_connection_check_interval',
      ].map((name) => expect.stringContaining(`has no setting ${name};`)),
    );
    await query(url, 'alter role survey_export_worker set enable_bitmapscan = off');
    await query(url, 'drop database tenants');
    for (const name of ['0003', '0005', '0006', '0007'])
      await query(url, `delete from schema_migrations where name like '${name}%'`);
    await migrate(url);
    expect(await databaseProblems(url)).toEqual([]);
  });

  test.each([
    ['alter role ROLE nologin', 'alter role ROLE login', 'cannot log in'],
    [`alter role ROLE valid until '2020-01-01'`, `alter role ROLE valid until 'infinity'`, 'has expired'],
    ['revoke select on responses from ROLE', 'grant select on responses to ROLE', 'cannot read responses;'],
    [
      'revoke update (last_used) on api_key_uses from ROLE',
      'grant update (last_used) on api_key_uses to ROLE',
      'cannot update when a key was last used',
    ],
    [
      'grant update (last_used) on api_keys to ROLE',
      'revoke update (last_used) on api_keys from ROLE',
      'can change api_keys;',
    ],
    ['grant delete on surveys to ROLE', 'revoke delete on surveys from ROLE', 'can change surveys;'],
    [
      'revoke usage on schema public from ROLE, public',
      'grant usage on schema public to ROLE, public',
      `cannot use the schema public; run "grant usage on schema public to ROLE"`,
    ],
    [
      'revoke connect on database DATABASE from public',
      'grant connect on database DATABASE to public',
      'cannot connect; run "grant connect on database test_',
    ],
    [
      'alter role ROLE createrole replication',
      'alter role ROLE nocreaterole noreplication',
      'has more rights than it needs; run "alter role ROLE nocreaterole noreplication"',
    ],
    [
      'alter role ROLE reset enable_seqscan',
      'alter role ROLE set enable_seqscan = off',
      `has no setting enable_seqscan; run "alter role ROLE set enable_seqscan = 'off'"`,
    ],
    [
      `alter role ROLE set statement_timeout = '5s'`,
      `alter role ROLE set statement_timeout = '65000'`, // the same as 65s
      `has statement_timeout = '5s'; run "alter role ROLE set statement_timeout = '65s'"`,
    ],
    ['alter role ROLE superuser', 'alter role ROLE nosuperuser', 'can change everything'],
    ['grant pg_write_all_data to ROLE', 'revoke pg_write_all_data from ROLE', 'can change users, surveys'],
  ])('names a problem after "%s"', async (sql, undo, problem) => {
    const filled = (text: string) =>
      text.replaceAll('ROLE', WORKER_ROLE).replace('DATABASE', new URL(url).pathname.slice(1));
    await query(url, filled(sql));
    expect(await databaseProblems(url)).toEqual([expect.stringContaining(filled(problem))]);
    await query(url, filled(undo));
    expect(await databaseProblems(url)).toEqual([]);
  });
});

describe('npm run db:worker-url', () => {
  test('and npm start and deploy --check name what to do if the database was restored on a server without the role', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, 'drop owned by survey_export_worker');
    await query(url, 'drop role survey_export_worker');
    const remedy = 'so create it as docs/runbook.md shows in "Restoring the database"';
    await expect(newUrl(url)).rejects.toThrow(
      `There is no role survey_export_worker: a dump does not include it, ${remedy}.`,
    );
    expect(await databaseProblems(url)).toEqual([expect.stringContaining(remedy)]);
    await expect(chooseLogin(url, { isEmbedded: false })).rejects.toThrow(remedy);
  });

  test('prints the URL, and names the databases that the password also holds for', async () => {
    const url = await postgres.createDatabase();
    const other = await postgres.createDatabase();
    for (const database of [url, other]) await migrate(database);
    const { status, stdout, stderr } = await startTool('worker-url.ts', [], { DATABASE_URL: url }).outcome;
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^postgres:\S+\n$/)]);
    expect(await userOf(stdout.trim())).toBe('survey_export_worker');
    const name = new URL(other).pathname.slice(1);
    expect(stderr).toContain(`holds for every database of this server, also for ${name}, which the role can read.`);
  });

  test('is refused to a user who may not change the role, and npm start names the grant', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, `create role tenant login password 'p'`);
    const tenant = Object.assign(new URL(url), { username: 'tenant', password: 'p' }).href;
    await expect(newUrl(tenant)).rejects.toThrow(
      'The user of DATABASE_URL may not change the role survey_export_worker',
    );
    await expect(chooseLogin(tenant, { isEmbedded: false })).rejects.toThrow('GRANT survey_export_worker TO tenant;');
  });
});

test('the SQL gateway logs in to the embedded server as the Worker’s role', async () => {
  const url = await postgres.createDatabase();
  await migrate(url);
  const login = await chooseLogin(url, { isEmbedded: true });
  expect([login.user, await userOf(login.url)]).toEqual([WORKER_ROLE, WORKER_ROLE]);
});

test('the Worker connects to the pooler of a Neon host, and commands to the host itself, with TLS', () => {
  for (const region of ['us-east-2.aws.neon.tech', 'c-2.eu-central-1.aws.neon.tech', 'eastus2.azure.neon.tech']) {
    const [direct, pooled] = [`ep-cool-bird-a1b2c3.${region}`, `ep-cool-bird-a1b2c3-pooler.${region}`];
    for (const host of [direct, pooled]) expect([directHost(host), pooledHost(host)]).toEqual([direct, pooled]);
    expect(postgresUrl(`postgres://u:p%40@${pooled}/db?sslmode=require&channel_binding=require`).href).toBe(
      `postgres://u:p%40@${direct}/db?sslmode=verify-full&channel_binding=require`,
    );
  }
  for (const host of ['db.example.org', 'ep-x.example.org', 'ep-x-pooler.eu.aws.neon.tech.example.org'])
    expect([directHost(host), pooledHost(host)]).toEqual([host, host]);
});

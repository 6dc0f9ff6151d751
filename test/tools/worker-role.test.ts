import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { postgresUrl } from '../../tools/database.ts';
import { databaseProblems } from '../../tools/deploy/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { directHost, pooledHost } from '../../tools/neon-host.ts';
import { query } from '../support/database.ts';
import { EMPTY_PASSWORD, HASHED_PASSWORD, startNeonRoles } from '../support/neon-roles.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { chooseLogin } from '../../tools/worker-role.ts';
import { startTool } from '../support/run-tool.ts';

const run = (name: string, url: string, ...args: string[]) => startTool(name, args, { DATABASE_URL: url }).outcome;
const userOf = async (url: string) => (await query<{ user: string }>(url, 'select current_user as user'))[0]?.user;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

describe('on a server that takes only roles with a plaintext password, as Neon does', () => {
  let neon: Awaited<ReturnType<typeof startNeonRoles>>;
  beforeAll(async () => (neon = await startNeonRoles(postgres)));
  afterAll(async () => {
    await neon?.[Symbol.asyncDispose]();
    await query(postgres.url, 'drop database neondb with (force)'); // the Worker's role has rights in it
    await query(postgres.url, 'drop role survey_export_worker');
  });

  test.each([
    ['migration 0001 as it was', 'do $$ begin create role worker login; end $$', EMPTY_PASSWORD],
    ['a password of null', `create role worker login password 'x'; alter role worker password null`, EMPTY_PASSWORD],
    ['what psql sends for \\password', `create role worker password 'SCRAM-SHA-256$4096:a$b:c'`, HASHED_PASSWORD],
  ])('%s fails, in a transaction as well', async (_, sql, message) => {
    await expect(query(neon.url, sql)).rejects.toThrow(message);
    await withConnection(neon.url, async (client) => {
      await client.query('begin');
      await expect(client.query(sql).then(() => client.query('commit'))).rejects.toThrow(message);
    });
    expect(await query(neon.url, `select from pg_roles where rolname = 'worker'`)).toEqual([]);
  });

  test('db:migrate, db:worker-url, deploy --check and a second db:worker-url work', async () => {
    expect(await run('migrate.ts', neon.url)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('applied 0001_initial.sql\n'),
    });
    const first = await run('worker-url.ts', neon.url);
    expect(first).toMatchObject({ status: 0, stdout: expect.stringMatching(/^postgres:\S+\n$/) });
    expect(await userOf(first.stdout.trim())).toBe('survey_export_worker');
    expect(await databaseProblems(neon.url)).toEqual([]);

    const second = await run('worker-url.ts', neon.url);
    expect(await userOf(second.stdout.trim())).toBe('survey_export_worker');
    await expect(query(first.stdout.trim(), 'select')).rejects.toThrow('password authentication failed');
    expect(await databaseProblems(neon.url)).toEqual([]);
  });
});

describe('npm run db:worker-url', () => {
  test('and npm start and deploy --check name what to do if the database was restored on a server without the role', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, 'drop owned by survey_export_worker');
    await query(url, 'drop role survey_export_worker');
    const { status, stdout, stderr } = await run('worker-url.ts', url);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const remedy = 'so create it as docs/runbook.md shows in "Restoring the database"';
    expect(stderr).toContain(`There is no role survey_export_worker: a dump does not include it, ${remedy}.`);
    expect(await databaseProblems(url)).toEqual([expect.stringContaining(remedy)]);
    await expect(chooseLogin(url, { isEmbedded: false })).rejects.toThrow(remedy);
  });

  test('names the databases that the password also holds for', async () => {
    const url = await postgres.createDatabase();
    const other = await postgres.createDatabase();
    for (const database of [url, other]) await migrate(database);
    const { stderr } = await run('worker-url.ts', url);
    const name = new URL(other).pathname.slice(1);
    expect(stderr).toContain(`holds for every database of this server, also for ${name}, which the role can read.`);
  });

  test('without DATABASE_URL is refused', async () => {
    const { status, stdout, stderr } = await run('worker-url.ts', '');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('(The embedded database serves npm start only.)');
  });

  test('for a user who may not change the role prints no URL, and npm start names the grant', async () => {
    const url = await postgres.createDatabase();
    await migrate(url);
    await query(url, `create role tenant login password 'p'`);
    await query(url, 'grant select on schema_migrations to tenant');
    const tenant = Object.assign(new URL(url), { username: 'tenant', password: 'p' }).href;
    const { status, stdout, stderr } = await run('worker-url.ts', tenant);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('The user of DATABASE_URL may not change the role survey_export_worker');
    expect(stderr).not.toContain('can no longer log in');
    await expect(chooseLogin(tenant, { isEmbedded: false })).rejects.toThrow('GRANT survey_export_worker TO tenant;');
  });
});

test.each([
  ['ep-cool-bird-a1b2c3.us-east-2.aws.neon.tech', 'ep-cool-bird-a1b2c3-pooler.us-east-2.aws.neon.tech'],
  ['ep-cool-bird-a1b2c3.c-2.eu-central-1.aws.neon.tech', 'ep-cool-bird-a1b2c3-pooler.c-2.eu-central-1.aws.neon.tech'],
  ['ep-x.eastus2.azure.neon.tech', 'ep-x-pooler.eastus2.azure.neon.tech'],
])('the Worker connects to the pooler of %s, and commands to the host itself', (direct, pooled) => {
  for (const host of [direct, pooled]) expect([directHost(host), pooledHost(host)]).toEqual([direct, pooled]);
});

test('a command connects to Neon without the pooler, with TLS', () => {
  const [pooled, direct] = ['ep-x-pooler', 'ep-x'].map(
    (name) => `postgres://u:p%40@${name}.us-east-2.aws.neon.tech/db`,
  );
  expect(postgresUrl(`${pooled}?sslmode=require&channel_binding=require`).href).toBe(
    `${direct}?sslmode=verify-full&channel_binding=require`,
  );
});

test('hosts outside Neon have no pooler', () => {
  for (const host of ['db.example.org', 'ep-x.example.org', 'ep-x-pooler.eu.aws.neon.tech.example.org'])
    expect([directHost(host), pooledHost(host)]).toEqual([host, host]);
});

test('a command names its database on stderr, without the password', async () => {
  const url = await postgres.createDatabase();
  const { host, pathname, password } = new URL(url);
  const { stdout, stderr } = await run('migrate.ts', url);
  expect(stderr).toBe(`Database: Postgres ${host}${pathname}\n`);
  expect(stdout).not.toContain(password);
});

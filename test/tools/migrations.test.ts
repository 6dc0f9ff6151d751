import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { openDatabase, postgresUrl } from '../../tools/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { createEmptyDatabase, query } from '../support/database.ts';
import { startTool } from '../support/run-tool.ts';

const url = await createEmptyDatabase();

test('migrate applies each migration once, even when several run at the same time', async () => {
  const applied = (await Promise.all([1, 2, 3].map(() => migrate(url)))).flat();
  expect(applied).toContain('0001_initial.sql'); // the server has its role already, as a second database's has
  expect(new Set(applied).size).toBe(applied.length);
  expect(await migrate(url)).toEqual([]);
  const recorded = await query<{ name: string }>(url, 'select name from schema_migrations order by name');
  expect(recorded.map(({ name }) => name)).toEqual(applied);
});

test('0004 copies the last uses, and a Worker of the version before finds its keys during and after it', async () => {
  const database = await createEmptyDatabase();
  const sqlOf = (name: string) => readFile(new URL(`../../src/db/migrations/${name}.sql`, import.meta.url), 'utf8');
  await query(database, 'create table schema_migrations (name text primary key, applied timestamptz default now())');
  for (const name of ['0001_initial', '0002_responses_by_participant', '0003_walk_indexes']) {
    await query(database, await sqlOf(name));
    await query(database, 'insert into schema_migrations (name) values ($1)', [`${name}.sql`]);
  }
  const used = new Date('2026-01-02T03:04:05.678Z');
  await query(database, `insert into users (email) values ('a@example.org')`);
  await query(
    database,
    `insert into api_keys (userid, name, prefix, hash, last_used)
     select id, 'n', 'p', hash, last_used from users, (values ('used', $1::timestamptz), ('unused', null)) k (hash, last_used)`,
    [used],
  );

  // The queries of that version.
  const lookUp = `select k.hash, k.last_used from api_keys k join users u on u.id = k.userid where k.hash = 'used'`;
  const noteUse = 'update api_keys set last_used = now()';
  const asWorker = (sql: string) =>
    withConnection(database, async (client) => {
      await client.query(`set role survey_export_worker; set statement_timeout = '10s'`);
      return (await client.query(sql)).rows;
    });
  const found = [{ hash: 'used', last_used: used }];
  await withConnection(database, async (client) => {
    await client.query('begin');
    await client.query(await sqlOf('0004_api_key_uses'));
    expect(await asWorker(lookUp)).toEqual(found);
  });
  expect(await migrate(database)).toContain('0004_api_key_uses.sql');
  expect(await asWorker(lookUp)).toEqual(found);
  await expect(asWorker(noteUse)).rejects.toMatchObject({ cause: { code: '42501' } }); // which is only logged
  expect(await query(database, 'select hash, u.last_used from api_key_uses u join api_keys on id = keyid')).toEqual(
    found,
  );
});

test('migrate names the session that blocks it', async () => {
  const database = await createEmptyDatabase();
  await withConnection(database, async (other) => {
    const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid, pg_advisory_lock(0x53524553)');
    await expect(migrate(database)).rejects.toThrow(`by a lock of process ${rows[0]?.pid} (role postgres, since `);
  });
});

describe('DATABASE_URL', () => {
  test.each([
    ['mysql://me:secret@host/db', /not a Postgres URL/],
    ['postgres://me:a/secret@host/db', /special characters .* must be escaped: \/ as %2F/],
    ['postgres://me:a#secret@host/db', /must be escaped/],
    ['postgres://me:1?secret@host/db', /must be escaped/],
    ['postgresql://survey_export_worker:secret@host/db', /is the Worker's role; use the owner's URL$/],
    [
      'postgres://me:secret@127.0.0.1:1/db',
      /Cannot connect to Postgres 127\.0\.0\.1:1\/db .*ECONNREFUSED.*; check the host/,
    ],
    ['"postgres://me:secret@host/db"', /not a Postgres URL: expected postgres:\/\/.*, without quotes around it$/],
    ['postgres://me:secret@host:five/db', /the port must be a number from 1 to 65535$/],
    ['postgres://me:secret@host:70000/db', /the port must be a number/],
    ['postgres://me:a/secret@host:5432/db', /must be escaped/],
    [
      'postgres://me:secret@no-such-host.invalid/db',
      /Cannot connect to Postgres no-such-host\.invalid\/db .*; check the host/,
    ],
    ['postgres://me:secret@host/db?sslmode=verify-full&sslrootcert=/secre', /^DATABASE_URL: ENOENT: .* '\/secre'$/],
  ])('%s is refused with a reason, but without the password', async (invalid, reason) => {
    const error: unknown = await openDatabase({ DATABASE_URL: invalid }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringMatching(reason) });
    expect(String(error)).not.toContain('secret');
  });

  test.each([
    ['a wrong password', { password: 'secret' }, /password authentication failed .*; check/],
    ['a missing database', { pathname: '/no' }, /"no" does not exist; create it, or check its name/],
  ])('with %s is refused with a reason', async (_, change, reason) => {
    const { href } = Object.assign(new URL(url), change);
    await expect(openDatabase({ DATABASE_URL: href })).rejects.toThrow(reason);
  });

  test('without a password ends the command with a reason', async () => {
    const { href } = Object.assign(new URL(url), { password: '' });
    // The server ends a connection that does not log in after a minute.
    const { outcome } = startTool('migrate.ts', [], { DATABASE_URL: href }, undefined, undefined, 30_000);
    const { status, stderr } = await outcome;
    expect(status).toBe(1); // rather than keep the process running with the open connection
    expect(stderr).toMatch(/the server requires a password, and the URL has none/);
  });

  test.each([' ', '\n'])('may begin or end with %j, and need not name its database', async (space) => {
    const database = await openDatabase({
      DATABASE_URL: `${space}${url.replace('postgres:', 'POSTGRES:')}${space}`,
    });
    expect(database.url).toBe(url);
    const name = new URL(url).username;
    for (const pathname of ['', '/']) {
      const short = Object.assign(new URL(url), { pathname });
      expect((await openDatabase({ DATABASE_URL: short.href })).description).toBe(`Postgres ${short.host}/${name}`);
    }
  });

  test('may have a password of special characters, escaped', async () => {
    const role = `odd_${randomBytes(6).toString('hex')}`; // the server is shared
    const password = '@/:#?%%2F';
    await query(url, `create role ${role} login password '${password}'`);
    const odd = new URL(url).href.replace(/postgres:[^:@]+@/, `${role}:${encodeURIComponent(password)}@`);
    const database = await openDatabase({ DATABASE_URL: odd });
    expect(await query(database.url, 'select current_user')).toEqual([{ current_user: role }]);
    await query(url, `drop role ${role}`);
  });

  test.each(['prefer', 'require', 'verify-ca'])('with sslmode=%s means verify-full', (mode) => {
    expect(postgresUrl(`postgres://me:p@host/db?sslmode=${mode}`).search).toBe('?sslmode=verify-full');
  });

  test('with sslmode=require requires TLS, without a warning', async () => {
    const { status, stderr } = await startTool('migrate.ts', [], { DATABASE_URL: `${url}?sslmode=require` }).outcome;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Cannot connect to .*: The server does not support SSL connections\n$/);
  });
});

test('migrate names the guide for a database that has the tables of the platform', async () => {
  const database = await createEmptyDatabase();
  await query(database, 'create table users (id uuid primary key)');
  await expect(migrate(database)).rejects.toThrow(
    `relation "users" already exists. If the tables are the platform's, follow "The platform's own database" in docs/deploy.md`,
  );
});

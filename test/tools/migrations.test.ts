import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { createEmptyDatabase, query } from '../support/database.ts';
import { startTool } from '../support/run-tool.ts';

const url = await createEmptyDatabase();

test('migrate applies each migration once, even when several run at the same time', async () => {
  const applied = (await Promise.all([1, 2, 3].map(() => migrate(url)))).flat();
  expect(applied).toContain('0001_initial.sql'); // the server has its role already, as a second database's has
  expect(new Set(applied).size).toBe(applied.length);
  expect(await migrate(url)).toEqual([]);
  const recorded = await query<{ name: string }>(
    url,
    'select name from schema_migrations order by name',
  );
  expect(recorded.map(({ name }) => name)).toEqual(applied);
});

describe('DATABASE_URL', () => {
  const changed = (parts: object) => Object.assign(new URL(url), parts).href;

  test.each([
    ['mysql://me:secret@host/db', /not a Postgres URL/],
    ['postgres://me:a/secret@host/db', /special characters .* must be escaped: \/ as %2F/],
    [
      'postgresql://survey_export_worker:secret@host/db',
      /is the Worker's role; use the owner's URL$/,
    ],
    [
      'postgres://me:secret@127.0.0.1:1/db',
      /Cannot connect to Postgres 127\.0\.0\.1:1\/db .*ECONNREFUSED.*; check the host/,
    ],
    [
      '"postgres://me:secret@host/db"',
      /not a Postgres URL: expected postgres:\/\/.*, without quotes around it$/,
    ],
    ['postgres://me:secret@host:five/db', /the port must be a number from 1 to 65535$/],
    [
      'postgres://me:secret@host/db?sslmode=verify-full&sslrootcert=/secre',
      /^DATABASE_URL: ENOENT: .* '\/secre'$/,
    ],
  ])('%s is refused with a reason, but without the password', async (invalid, reason) => {
    const error: unknown = await openDatabase({ DATABASE_URL: invalid }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringMatching(reason) });
    expect(String(error)).not.toContain('secret');
  });

  test.each([
    [{ password: 'secret' }, /password authentication failed .*; check/],
    [{ pathname: '/no' }, /"no" does not exist; create it, or check its name/],
  ])('with %j is refused with a reason', async (parts, reason) => {
    await expect(openDatabase({ DATABASE_URL: changed(parts) })).rejects.toThrow(reason);
  });

  test('without a password ends the command with a reason', async () => {
    const DATABASE_URL = changed({ password: '' });
    // The server ends a connection that does not log in after a minute.
    const ending = startTool('migrate.ts', [], { DATABASE_URL }, { timeoutMs: 30_000 });
    const { status, stderr } = await ending.outcome;
    expect(status).toBe(1); // rather than keep the process running with the open connection
    expect(stderr).toMatch(/the server requires a password, and the URL has none/);
  });

  test.each([' ', '\n'])(
    'may begin or end with %j, and need not name its database',
    async (space) => {
      const database = await openDatabase({
        DATABASE_URL: `${space}${url.replace('postgres:', 'POSTGRES:')}${space}`,
      });
      expect(database.url).toBe(url);
      const { host, username } = new URL(url);
      for (const pathname of ['', '/']) {
        const { description } = await openDatabase({ DATABASE_URL: changed({ pathname }) });
        expect(description).toBe(`Postgres ${host}/${username}`);
      }
    },
  );

  test('with sslmode=require requires TLS, without a warning', async () => {
    const { status, stderr } = await startTool('migrate.ts', [], {
      DATABASE_URL: `${url}?sslmode=require`,
    }).outcome;
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

test('a server older than Postgres 15, or of another make, is refused by its name', async () => {
  const old = await createEmptyDatabase();
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

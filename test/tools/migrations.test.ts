import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { openDatabase } from '../../tools/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { query } from '../support/database.ts';

let postgres: TestPostgres;
let url: string;

beforeAll(async () => {
  postgres = await startPostgres();
  url = await postgres.createDatabase();
});

afterAll(() => postgres?.stop());

describe('migrate', () => {
  test('applies each migration once, even when several run at the same time', async () => {
    const applied = (await Promise.all([1, 2, 3].map(() => migrate(url)))).flat();
    expect(applied).toContain('0001_initial.sql');
    expect(new Set(applied).size).toBe(applied.length);
    expect(await migrate(url)).toEqual([]);
    const recorded = await query<{ name: string }>(url, 'select name from schema_migrations order by name');
    expect(recorded.map(({ name }) => name)).toEqual(applied);
  });

  test('creates a role that can only read, and update when a key was last used', async () => {
    await migrate(url);
    const asWorker = (sql: string) => query(url, `begin; set local role survey_export_worker; ${sql}; rollback`);
    await asWorker('select from users, surveys, survey_settings, responses, api_keys');
    await asWorker('update api_keys set last_used = now()');
    for (const sql of [
      'update api_keys set expires = now()',
      `insert into users (email) values ('x')`,
      'delete from responses',
      'create table x ()',
      'select from schema_migrations',
    ]) {
      await expect(asWorker(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('works for a second database on a server that already has the role', async () => {
    const urls = [await postgres.createDatabase(), await postgres.createDatabase()];
    const applied = await Promise.all(urls.map(migrate));
    expect(applied[0]).toEqual(applied[1]);
    expect(applied[0]).toContain('0001_initial.sql');
  });
});

test('migrate names the session that blocks it', async () => {
  const database = await postgres.createDatabase();
  await withConnection(database, async (other) => {
    const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid, pg_advisory_lock(0x53524553)');
    await expect(migrate(database)).rejects.toThrow(`by a lock of process ${rows[0]?.pid} (role postgres, since `);
  });
});

describe('DATABASE_URL', () => {
  test.each([
    ['mysql://me:secret@host/db', /not a Postgres URL/],
    ['secret', /not a Postgres URL/],
    ['postgres://me:secret@127.0.0.1:1/db', /Cannot connect to Postgres 127\.0\.0\.1:1\/db .*ECONNREFUSED/],
  ])('%s is refused with a reason, but without the password', async (invalid, reason) => {
    const error: unknown = await openDatabase({ DATABASE_URL: invalid }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringMatching(reason) });
    expect(String(error)).not.toContain('secret');
  });
});

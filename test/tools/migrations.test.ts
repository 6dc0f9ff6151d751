import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../tools/database.ts';
import { migrate } from '../../tools/migrations.ts';
import { query } from '../support/database.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

describe('migrating', () => {
  let url: string;

  beforeAll(async () => {
    url = await postgres.createDatabase();
  });

  async function asWorker(sql: string): Promise<unknown> {
    return query(url, `begin; set local role survey_export_worker; ${sql}; rollback`);
  }

  test('applies each migration once, also when several do it at the same time', async () => {
    const applied = await Promise.all([1, 2, 3].map(() => migrate(url)));
    expect(applied.flat()).toContain('0001_initial.sql');
    expect(new Set(applied.flat()).size).toBe(applied.flat().length);
    expect(await migrate(url)).toEqual([]);
    const stored = await query<{ name: string }>(url, 'select name from schema_migrations order by name');
    expect(stored.map(({ name }) => name)).toEqual(applied.flat());
  });

  test('makes a role that can read, and write when a key was last used, but nothing else', async () => {
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
});

describe('a database whose other database has the role already', () => {
  test('is migrated like the first one', async () => {
    const urls = [await postgres.createDatabase(), await postgres.createDatabase()];
    const applied = await Promise.all(urls.map(migrate));
    expect(applied[0]).toEqual(applied[1]);
    expect(applied[0]).toContain('0001_initial.sql');
  });
});

describe('DATABASE_URL', () => {
  test.each([
    ['mysql://me:secret@host/db', /not a Postgres URL/],
    ['secret', /not a Postgres URL/],
    ['postgres://me:secret@127.0.0.1:1/db', /Cannot connect to Postgres 127\.0\.0\.1:1\/db .*ECONNREFUSED/],
  ])('%s is refused with a reason, but without the password', async (url, reason) => {
    const error: unknown = await openDatabase({ DATABASE_URL: url }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UserError', message: expect.stringMatching(reason) });
    expect(String(error)).not.toContain('secret');
  });
});

import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { revokeKey } from '../../tools/keys/revoke.ts';
import { rotateKey } from '../../tools/keys/rotate.ts';
import { migrate } from '../../tools/migrations.ts';
import { useWorkerSettings } from '../plans/explain.ts';
import { startDatabase } from '../support/database.ts';

const ROLE = 'survey_export_worker';
const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses'];

const database = await startDatabase();
const owner = new Client(database.url);
await owner.connect();
await owner.query(`create table other (id int)`);
await owner.query(`insert into users (email) values ('a@example.org')`);
/** With the rights and settings of the role, like the Worker. */
const worker = new Client(database.url);
await worker.connect();
await useWorkerSettings(worker);
await worker.query(`set session authorization ${ROLE}`); // what a superuser's session may do depends on this role alone
afterAll(async () => {
  for (const client of [worker, owner]) await client.end();
  await database.stop();
});

describe('the Worker’s database role', () => {
  test('cannot delay the revocation of a key', async () => {
    const { rows } = await owner.query<{ id: string }>(
      `insert into api_keys (userid, name, prefix, hash) select id, 'n', 'p', 'unused' from users returning id`,
    );
    const id = rows[0]?.id ?? '';
    await worker.query('begin');
    await worker.query('insert into api_key_uses values ($1, now())', [id]);
    await worker.query(`lock table ${TABLES.join()} in access share mode`);
    await worker.query('select pg_advisory_xact_lock(0x53524553)'); // that of the migrations
    expect(await migrate(database.url)).toEqual([]);
    expect((await rotateKey(database.url, id, { graceMs: 60_000 })).rotated.replaces.id).toBe(id);
    expect((await revokeKey(database.url, id)).revoked.id).toBe(id);
    await worker.query('rollback');
  });

  test('has no other privileges on tables and columns, and no memberships', async () => {
    const { rows } = await owner.query<{ privilege: string }>(
      `select format('%s on %s', privilege_type, table_name) as privilege from information_schema.role_table_grants
       where grantee in ('${ROLE}', 'PUBLIC') and table_schema not in ('pg_catalog', 'information_schema')
       union all
       select format('%s of %s.%s', privilege_type, table_name, column_name) from information_schema.column_privileges
       where grantee in ('${ROLE}', 'PUBLIC') and privilege_type <> 'SELECT'
         and table_schema not in ('pg_catalog', 'information_schema')
       union all
       select 'membership in ' || roleid::regrole from pg_auth_members where member = '${ROLE}'::regrole
       order by 1`,
    );
    expect(rows.map(({ privilege }) => privilege)).toEqual(
      [
        ...TABLES.map((table) => `SELECT on ${table}`),
        'INSERT of api_key_uses.keyid',
        'INSERT of api_key_uses.last_used',
        'UPDATE of api_key_uses.last_used',
      ].toSorted(),
    );
  });
});

import type { Client } from 'pg';
import { openDatabase } from '../database.ts';
import { withConnection } from '../connection.ts';
import { migrationNames } from '../migrations.ts';

const ROLE = 'survey_export_worker';
const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys'];
const MIGRATE = 'run "npm run db:migrate" with the same DATABASE_URL';

/**
 * Whether a database is what the Worker expects: migrated, with a role that can log in, read, note when a key was used, and
 * nothing else. Reads only.
 *
 * @param url `postgres://` URL of the tables' owner
 * @throws UserError when nothing answers there
 */
export async function databaseProblems(url: string): Promise<string[]> {
  await using database = await openDatabase({ DATABASE_URL: url });
  return withConnection(database.url, async (client) => {
    const pending = await pendingMigrations(client);
    const migration = pending.length > 0 ? [`The database lacks the migrations ${pending.join(', ')}; ${MIGRATE}`] : [];
    return [...migration, ...(await roleProblems(client))];
  });
}

/** @returns of the migrations in src/db/migrations, those that were not applied */
async function pendingMigrations(client: Client): Promise<string[]> {
  const names = await migrationNames();
  const { rows: tables } = await client.query(`select where to_regclass('schema_migrations') is not null`);
  if (tables.length === 0) return names;
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
  const done = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !done.has(name));
}

/** That it has a password is not to be seen: Postgres shows that to superusers only. */
async function roleProblems(client: Client): Promise<string[]> {
  const { rows: roles } = await client.query<{ can: boolean; super: boolean; expired: boolean }>(
    `select rolcanlogin as can, rolsuper or rolbypassrls as super, coalesce(rolvaliduntil < now(), false) as expired
     from pg_roles where rolname = $1`,
    [ROLE],
  );
  const role = roles[0];
  if (!role) return [`The database has no role ${ROLE}; ${MIGRATE}`];
  const problems: string[] = [];
  if (!role.can) problems.push(`The role ${ROLE} may not log in; "alter role ${ROLE} login" allows it`);
  if (role.expired)
    problems.push(
      `The password of the role ${ROLE} has expired; "alter role ${ROLE} valid until 'infinity'" ends that`,
    );

  const { rows: rights } = await client.query<{ name: string; reads: boolean; writes: boolean }>(
    `select name, has_any_column_privilege($1, to_regclass(name), 'select') as reads,
       has_table_privilege($1, to_regclass(name), 'insert, update, delete, truncate') as writes
     from unnest($2::text[]) as name where to_regclass(name) is not null`,
    [ROLE, TABLES],
  );
  const named = (names: { name: string }[]) => names.map(({ name }) => name).join(', ');
  const unread = rights.filter(({ reads }) => !reads);
  const written = rights.filter(({ writes }) => writes);
  if (unread.length > 0)
    problems.push(
      `The role ${ROLE} may not read ${named(unread)}; "grant select on ${named(unread)} to ${ROLE}" allows it`,
    );
  const { rows: unnoted } = await client.query(
    `select from pg_attribute where attrelid = to_regclass('api_keys') and attname = 'last_used'
       and not has_column_privilege($1, attrelid, attnum, 'update')`,
    [ROLE],
  );
  if (unnoted.length > 0)
    problems.push(
      `The role ${ROLE} may not note when a key was used; "grant update (last_used) on api_keys to ${ROLE}" allows it`,
    );
  if (role.super || written.length > 0)
    problems.push(
      `The role ${ROLE} may change ${role.super ? 'everything' : named(written)}; revoke that, and the membership in other roles that it may have it from`,
    );
  return problems;
}

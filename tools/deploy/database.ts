import type { Client } from 'pg';
import { openDatabase } from '../database.ts';
import { withConnection } from '../connection.ts';
import { pendingMigrations } from '../migrations.ts';

const ROLE = 'survey_export_worker';
const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses'];
const MIGRATE = 'run "npm run db:migrate" with the same DATABASE_URL';

/**
 * Checks that a database is migrated, and that the Worker's role can log in, read the tables, update when a key was last used,
 * and do nothing else. Changes nothing.
 *
 * @param url `postgres://` URL of the tables' owner
 * @throws UserError if the database cannot be reached
 */
export async function databaseProblems(url: string): Promise<string[]> {
  await using database = await openDatabase({ DATABASE_URL: url });
  return withConnection(database.url, async (client) => {
    const pending = await pendingMigrations(client);
    const migration = pending.length > 0 ? [`The database lacks the migrations ${pending.join(', ')}; ${MIGRATE}`] : [];
    return [...migration, ...(await roleProblems(client))];
  });
}

/** Does not check for a password: Postgres shows only superusers whether a role has one. */
async function roleProblems(client: Client): Promise<string[]> {
  const { rows: roles } = await client.query<{ can_login: boolean; is_super: boolean; is_expired: boolean }>(
    `select rolcanlogin as can_login, rolsuper or rolbypassrls as is_super,
       coalesce(rolvaliduntil < now(), false) as is_expired
     from pg_roles where rolname = $1`,
    [ROLE],
  );
  const role = roles[0];
  if (!role) return [`The database has no role ${ROLE}; ${MIGRATE}`];
  const problems: string[] = [];
  if (!role.can_login) problems.push(`The role ${ROLE} cannot log in; run "alter role ${ROLE} login"`);
  if (role.is_expired)
    problems.push(`The password of the role ${ROLE} has expired; run "alter role ${ROLE} valid until 'infinity'"`);

  const { rows: tables } = await client.query<{ name: string; can_read: boolean; can_write: boolean }>(
    `select name, has_any_column_privilege($1, to_regclass(name), 'select') as can_read,
       has_table_privilege($1, to_regclass(name), 'insert, update, delete, truncate')
         or name <> 'api_key_uses' and has_any_column_privilege($1, to_regclass(name), 'insert, update') as can_write
     from unnest($2::text[]) as name where to_regclass(name) is not null`,
    [ROLE, TABLES],
  );
  const namesOf = (some: { name: string }[]) => some.map(({ name }) => name).join(', ');
  const unreadable = namesOf(tables.filter(({ can_read }) => !can_read));
  const writable = role.is_super ? 'everything' : namesOf(tables.filter(({ can_write }) => can_write));
  if (unreadable)
    problems.push(`The role ${ROLE} cannot read ${unreadable}; run "grant select on ${unreadable} to ${ROLE}"`);
  const { rows: notUpdatable } = await client.query(
    `select from (select to_regclass('api_key_uses')) uses (name)
     where not (has_column_privilege($1, name, 'keyid', 'insert')
       and has_column_privilege($1, name, 'last_used', 'insert')
       and has_column_privilege($1, name, 'last_used', 'update'))`,
    [ROLE],
  );
  if (notUpdatable.length > 0)
    problems.push(
      `The role ${ROLE} cannot update when a key was last used; ` +
        `run "grant insert (keyid, last_used), update (last_used) on api_key_uses to ${ROLE}"`,
    );
  if (writable)
    problems.push(
      `The role ${ROLE} can change ${writable}; revoke that privilege, and its membership in roles that grant it`,
    );
  return problems;
}

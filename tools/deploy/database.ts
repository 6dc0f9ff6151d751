import type { Client } from 'pg';
import { withConnection } from '../connection.ts';
import { openForCommand } from '../database.ts';
import { findMigrations } from '../migrations.ts';
import { CREATE_ROLE, WORKER_ROLE as ROLE } from '../worker-role.ts';

const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses'];
/** The settings that the migrations give the role. They cannot if another user of the server has created it. */
const SETTINGS = {
  enable_bitmapscan: 'off',
  enable_seqscan: 'off',
  statement_timeout: '65s',
  idle_in_transaction_session_timeout: '65s',
  max_parallel_workers_per_gather: '0',
  client_connection_check_interval: '2s',
};
const MIGRATE = 'run "npm run db:migrate" with the same DATABASE_URL';

/**
 * Checks that a database is migrated, and that the Worker's role can log in, read the tables, update when a key was last used,
 * and do nothing else. Changes nothing.
 *
 * @param url `postgres://` URL of the tables' owner
 * @throws UserError if the database cannot be reached
 */
export async function databaseProblems(url: string): Promise<string[]> {
  const database = await openForCommand({ env: { DATABASE_URL: url }, needsMigrations: false });
  return withConnection(database.url, async (client) => {
    const { pending } = await findMigrations(client);
    const migration = pending.length > 0 ? [`The database lacks the migrations ${pending.join(', ')}; ${MIGRATE}`] : [];
    return [...migration, ...(await roleProblems(client, pending.length > 0 ? MIGRATE : CREATE_ROLE))];
  });
}

/**
 * Does not check for a password: Postgres shows only superusers whether a role has one.
 *
 * @param remedy what to do if there is no such role
 */
async function roleProblems(client: Client, remedy: string): Promise<string[]> {
  const { rows: roles } = await client.query<{
    can_login: boolean;
    is_super: boolean;
    is_expired: boolean;
    attributes: string[];
    locked_database: string | null;
    locked_schemas: string[];
  }>(
    `select rolcanlogin as can_login, rolsuper or rolbypassrls as is_super,
       coalesce(rolvaliduntil < now(), false) as is_expired,
       array_remove(array[case when rolcreaterole then 'createrole' end, case when rolcreatedb then 'createdb' end,
         case when rolreplication then 'replication' end], null) as attributes,
       case when not has_database_privilege(oid, current_database(), 'connect') then quote_ident(current_database()) end
         as locked_database,
       array(select distinct relnamespace::regnamespace::text from pg_class
         where pg_class.oid in (select to_regclass(name) from unnest($2::text[]) as name)
           and not has_schema_privilege($1, relnamespace, 'usage')) as locked_schemas
     from pg_roles where rolname = $1`,
    [ROLE, TABLES],
  );
  const role = roles[0];
  if (!role) return [`The database has no role ${ROLE}; ${remedy}`];
  const problems: string[] = [];
  if (!role.can_login) problems.push(`The role ${ROLE} cannot log in; run "alter role ${ROLE} login"`);
  if (role.is_expired)
    problems.push(`The password of the role ${ROLE} has expired; run "alter role ${ROLE} valid until 'infinity'"`);
  if (role.attributes.length > 0)
    problems.push(
      `The role ${ROLE} has more rights than it needs; run "alter role ${ROLE} ${role.attributes.map((name) => `no${name}`).join(' ')}"`,
    );
  if (role.locked_database !== null)
    problems.push(
      `The role ${ROLE} cannot connect; run "grant connect on database ${role.locked_database} to ${ROLE}"`,
    );
  for (const schema of role.locked_schemas)
    problems.push(`The role ${ROLE} cannot use the schema ${schema}; run "grant usage on schema ${schema} to ${ROLE}"`);
  problems.push(...(await settingProblems(client)));

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

/** A setting for this database overrides that for all. `set_config` returns a value in the server's spelling: 65s for 65000. */
async function settingProblems(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; wanted: string; found: string | null }>(
    `select name, wanted, found
     from unnest($2::text[], $3::text[]) as needed (name, wanted)
     left join lateral (
       select substr(setting, strpos(setting, '=') + 1) as found
       from pg_db_role_setting, unnest(setconfig) as setting
       where setrole = (select oid from pg_roles where rolname = $1)
         and setdatabase in (0, (select oid from pg_database where datname = current_database()))
         and split_part(setting, '=', 1) = name
       order by setdatabase desc limit 1
     ) as current on true
     where found is null or set_config(name, found, true) <> set_config(name, wanted, true)`,
    [ROLE, Object.keys(SETTINGS), Object.values(SETTINGS)],
  );
  return rows.map(
    ({ name, wanted, found }) =>
      `The role ${ROLE} has ${found === null ? `no setting ${name}` : `${name} = '${found}'`}; ` +
      `run "alter role ${ROLE} set ${name} = '${wanted}'"`,
  );
}

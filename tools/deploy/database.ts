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
  const { rows } = await client.query<{
    can_login: boolean;
    is_expired: boolean;
    attributes: string;
    locked_database: string | null;
    locked_schemas: string[];
    unreadable: string | null;
    can_note_use: boolean;
    writable: string | null;
  }>(
    `with tables as (select name, to_regclass(name) as id from unnest($2::text[]) name where to_regclass(name) is not null)
     select rolcanlogin as can_login,
       coalesce(rolvaliduntil < now(), false) as is_expired,
       concat_ws(' ', case when rolcreaterole then 'nocreaterole' end, case when rolcreatedb then 'nocreatedb' end,
         case when rolreplication then 'noreplication' end) as attributes,
       case when not has_database_privilege(oid, current_database(), 'connect') then quote_ident(current_database()) end
         as locked_database,
       array(select distinct relnamespace::regnamespace::text from pg_class join tables on tables.id = pg_class.oid
         where not has_schema_privilege($1, relnamespace, 'usage')) as locked_schemas,
       (select string_agg(name, ', ') from tables where not has_any_column_privilege($1, id, 'select')) as unreadable,
       (select coalesce(has_column_privilege($1, id, 'keyid', 'insert') and has_column_privilege($1, id, 'last_used', 'insert')
         and has_column_privilege($1, id, 'last_used', 'update'), true) from to_regclass('api_key_uses') as id) as can_note_use,
       case when rolsuper or rolbypassrls then 'everything' else
         (select string_agg(name, ', ') from tables where has_table_privilege($1, id, 'insert, update, delete, truncate')
           or name <> 'api_key_uses' and has_any_column_privilege($1, id, 'insert, update')) end as writable
     from pg_roles where rolname = $1`,
    [ROLE, TABLES],
  );
  const role = rows[0];
  if (!role) return [`The database has no role ${ROLE}; ${remedy}`];
  const { attributes, locked_database: database, unreadable, writable } = role;
  const problems: (readonly [isThere: unknown, problem: string, statement: string])[] = [
    [!role.can_login, 'cannot log in', `alter role ${ROLE} login`],
    [role.is_expired, 'has a password that has expired', `alter role ${ROLE} valid until 'infinity'`],
    [attributes, 'has more rights than it needs', `alter role ${ROLE} ${attributes}`],
    [database, 'cannot connect', `grant connect on database ${database} to ${ROLE}`],
    ...role.locked_schemas.map(
      (schema) => [true, `cannot use the schema ${schema}`, `grant usage on schema ${schema} to ${ROLE}`] as const,
    ),
    ...(await settingProblems(client)),
    [unreadable, `cannot read ${unreadable}`, `grant select on ${unreadable} to ${ROLE}`],
    [
      !role.can_note_use,
      'cannot update when a key was last used',
      `grant insert (keyid, last_used), update (last_used) on api_key_uses to ${ROLE}`,
    ],
  ];
  const found = problems.filter(([isThere]) => isThere);
  const messages = found.map(([, problem, statement]) => `The role ${ROLE} ${problem}; run "${statement}"`);
  if (writable !== null)
    messages.push(
      `The role ${ROLE} can change ${writable}; revoke that privilege, and its membership in roles that grant it`,
    );
  return messages;
}

/** A setting for this database overrides that for all. `set_config` returns a value in the server's spelling: 65s for 65000. */
async function settingProblems(client: Client) {
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
  return rows.map(({ name, wanted, found }) => {
    const problem = found === null ? `has no setting ${name}` : `has ${name} = '${found}'`;
    return [true, problem, `alter role ${ROLE} set ${name} = '${wanted}'`] as const;
  });
}

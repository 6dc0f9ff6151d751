import type { Client } from 'pg';
import { withConnection } from '../connection.ts';
import { openForCommand } from '../database.ts';
import { findMigrations } from '../migrations.ts';
import { CREATE_ROLE, WORKER_ROLE as ROLE } from '../worker-role.ts';

const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses'];
/**
 * The settings that the migrations give the role. They cannot if another user of the server has
 * created it.
 */
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
 * What is wrong with the role, and the statement that repairs it, or null. Parameters: the role, its
 * tables, and the names and values of its settings.
 */
const FIND_PROBLEMS = `
  with role as (
    select * from pg_roles where rolname = $1
  ), tables as (
    select name, to_regclass(name) as id
    from unnest($2::text[]) name
    where to_regclass(name) is not null
  ), stored as (
    select setrole, setdatabase, split_part(setting, '=', 1) as name,
      substr(setting, strpos(setting, '=') + 1) as value
    from pg_db_role_setting, unnest(setconfig) as setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))
  ), settings as (
    select name, wanted, (
      select value from stored where setrole = role.oid and stored.name = needed.name
      order by setdatabase desc limit 1 -- one for this database overrides that for all
    ) as found
    from role, unnest($3::text[], $4::text[]) as needed (name, wanted)
  ), date_style as (
    select coalesce((
      select value from stored
      where setrole in (0, role.oid) and lower(name) = 'datestyle'
      order by setrole desc, setdatabase desc limit 1 -- in this order, one overrides another
    ), current_setting('datestyle')) as found
    from role
  )

  select 'cannot log in' as problem, 'alter role ${ROLE} login' as statement
  from role where not rolcanlogin

  union all
  select 'has a password that has expired', 'alter role ${ROLE} valid until ''infinity'''
  from role where rolvaliduntil < now()

  union all
  select 'has more rights than it needs', concat_ws(' ', 'alter role ${ROLE}',
    case when rolcreaterole then 'nocreaterole' end,
    case when rolcreatedb then 'nocreatedb' end,
    case when rolreplication then 'noreplication' end)
  from role where rolcreaterole or rolcreatedb or rolreplication

  union all
  select 'cannot connect', format('grant connect on database %I to ${ROLE}', current_database())
  from role where not has_database_privilege(oid, current_database(), 'connect')

  union all
  select distinct 'cannot use the schema ' || relnamespace::regnamespace,
    format('grant usage on schema %s to ${ROLE}', relnamespace::regnamespace)
  from role, tables join pg_class on pg_class.oid = id
  where not has_schema_privilege(role.oid, relnamespace, 'usage')

  union all
  select case when found is null then 'has no setting ' || name else format('has %s = %L', name, found) end,
    format('alter role ${ROLE} set %s = %L', name, wanted)
  from settings -- set_config returns a value in the server's spelling: 65s for 65000
  where found is null or set_config(name, found, true) <> set_config(name, wanted, true)

  union all
  select format('has DateStyle = %L, and the Worker reads times in the style ISO', found),
    'alter role ${ROLE} set datestyle = ''ISO'''
  from date_style where found not ilike '%iso%'

  union all
  select 'cannot read ' || string_agg(name, ', '),
    format('grant select on %s to ${ROLE}', string_agg(name, ', '))
  from role, tables where not has_any_column_privilege(role.oid, id, 'select')
  having count(*) > 0

  union all
  select 'cannot update when a key was last used',
    'grant insert (keyid, last_used), update (last_used) on api_key_uses to ${ROLE}'
  from role, tables
  where name = 'api_key_uses' and not (
    has_column_privilege(role.oid, id, 'keyid', 'insert')
    and has_column_privilege(role.oid, id, 'last_used', 'insert')
    and has_column_privilege(role.oid, id, 'last_used', 'update'))

  union all
  select 'can change ' || case when rolsuper or rolbypassrls then 'everything' else string_agg(name, ', ') end, null
  from role left join tables on true
  where rolsuper or rolbypassrls
    or has_table_privilege(role.oid, id, 'insert, update, delete, truncate')
    or name <> 'api_key_uses' and has_any_column_privilege(role.oid, id, 'insert, update')
  group by rolsuper, rolbypassrls`;

/**
 * Checks that a database is migrated, and that the Worker's role can log in, read the tables,
 * update when a key was last used, and do nothing else. Changes nothing.
 *
 * @param url `postgres://` URL of the tables' owner
 * @throws UserError if the database cannot be reached
 */
export async function databaseProblems(url: string): Promise<string[]> {
  const database = await openForCommand({ env: { DATABASE_URL: url }, needsMigrations: false });
  return withConnection(database.url, async (client) => {
    const { pending } = await findMigrations(client);
    if (pending.length === 0) return roleProblems(client, CREATE_ROLE);

    const migration = `The database lacks the migrations ${pending.join(', ')}; ${MIGRATE}`;
    return [migration, ...(await roleProblems(client, MIGRATE))];
  });
}

/**
 * Does not check for a password: Postgres shows only superusers whether a role has one.
 *
 * @param remedy what to do if there is no such role
 */
async function roleProblems(client: Client, remedy: string): Promise<string[]> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [ROLE]);
  if (rowCount === 0) return [`The database has no role ${ROLE}; ${remedy}`];

  const { rows } = await client.query<{ problem: string; statement: string | null }>(
    FIND_PROBLEMS,
    [ROLE, TABLES, Object.keys(SETTINGS), Object.values(SETTINGS)],
  );

  return rows.map(({ problem, statement }) => {
    const advice =
      statement === null
        ? 'revoke that privilege, and its membership in roles that grant it'
        : `run "${statement}"`;
    return `The role ${ROLE} ${problem}; ${advice}`;
  });
}

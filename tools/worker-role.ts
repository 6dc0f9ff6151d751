import { randomBytes } from 'node:crypto';
import { type Client, DatabaseError } from 'pg';
import type { Login } from '../gateway/request.ts';
import { UserError } from './command.ts';
import { withConnection } from './connection.ts';

/** The role that migration 0001 creates. */
export const WORKER_ROLE = 'survey_export_worker';

/** What to do if a database is migrated, but its server has no role for the Worker. */
export const CREATE_ROLE =
  'a dump does not include it, so create it as docs/runbook.md shows in "Restoring the database"';

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';
/** Of ALTER ROLE (undefined_object), and of SET ROLE (invalid_parameter_value). */
const NO_ROLE = new Set(['42704', '22023']);

/**
 * Runs a statement that uses the Worker's role. @param denied the message of the UserError if the
 * user may not use it
 */
async function useRole(client: Client, statement: string, denied: string): Promise<void> {
  await client.query(statement).catch((cause: unknown) => {
    const code = cause instanceof DatabaseError ? (cause.code ?? '') : '';
    // A database that was restored on another server.
    if (NO_ROLE.has(code))
      throw new UserError(`There is no role ${WORKER_ROLE}: ${CREATE_ROLE}.`, { cause });
    throw code === INSUFFICIENT_PRIVILEGE ? new UserError(denied, { cause }) : cause;
  });
}

/**
 * Gives the Worker's role a new random password, in all databases of the server. It is sent as
 * plain text, the only form that Neon accepts:
 * https://neon.com/docs/manage/roles#manage-roles-with-sql
 *
 * @param client of a user who may change the role
 * @throws UserError if there is no such role, or the user may not change it
 */
export async function setWorkerPassword(client: Client): Promise<Login> {
  const password = randomBytes(24).toString('base64url');
  const denied =
    `The user of DATABASE_URL may not change the role ${WORKER_ROLE}, which another user of this server created. ` +
    'Use the URL of that user, or of a superuser.';
  await useRole(client, `alter role ${WORKER_ROLE} password '${password}'`, denied);
  return { user: WORKER_ROLE, password };
}

/** The other databases of the server in which the Worker's role has privileges. */
export async function otherWorkerDatabases(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct datname as name from pg_shdepend join pg_database d on d.oid = dbid
     where refclassid = 'pg_authid'::regclass and refobjid = (select oid from pg_roles where rolname = $1)
       and datname <> current_database()
     order by 1`,
    [WORKER_ROLE],
  );

  return rows.map(({ name }) => name);
}

/**
 * Chooses how the Worker's statements run under `npm start`. On the embedded server, they run in a
 * login of the Worker's role, which gets a new password. On a database of your own the role keeps
 * its password: they run in a login of the user of DATABASE_URL, which begins with the role, as
 * after SET ROLE, and with the settings that a login of the role would have.
 *
 * @returns the `postgres://` URL for the gateway, with these settings; and the user and password to
 * log in with
 * @throws UserError if there is no such role, or the user of DATABASE_URL may not act as it
 */
export async function chooseLogin(url: string, { isEmbedded }: { isEmbedded: boolean }) {
  return withConnection(url, async (client) => {
    if (isEmbedded) return { database: url, ...(await setWorkerPassword(client)) };
    const user = client.escapeIdentifier(client.user ?? '');
    const denied =
      `${user} may not act as the Worker's role, which another user of this server created. ` +
      `As that user, or a superuser: GRANT ${WORKER_ROLE} TO ${user};`;
    await useRole(client, `set role ${WORKER_ROLE}`, denied);
    const { rows } = await client.query<{ setting: string }>(
      `select setting from pg_db_role_setting, unnest(setconfig) setting
       where setrole = (select oid from pg_roles where rolname = $1)
         and setdatabase in (0, (select oid from pg_database where datname = current_database()))
       order by setdatabase`, // those for this database come last, and win
      [WORKER_ROLE],
    );

    const settings = [...rows.map(({ setting }) => setting), `role=${WORKER_ROLE}`];
    const options = settings
      .map((setting) => `-c ${setting.replaceAll(/[\\ ]/g, '\\$&')}`)
      .join(' ');
    const database = new URL(url);
    database.searchParams.set('options', options);
    return {
      database: database.href,
      user: client.user ?? '',
      password: client.password ?? 'none',
    };
  });
}

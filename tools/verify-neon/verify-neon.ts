import { Client } from 'pg';
import { UserError } from '../command.ts';
import { withConnection } from '../connection.ts';
import { openDatabase } from '../database.ts';
import { pooledHost } from '../neon-host.ts';
import { type Result, type RunOptions, runChecks } from '../verify/run-checks.ts';
import { SqlEndpoint, endpointOf } from './endpoint.ts';
import { PROTOCOL_CHECKS } from './protocol.ts';
import { createSchema, newSandbox, removalOf, removeSandbox } from './sandbox.ts';
import { SESSION_CHECKS } from './sessions.ts';
import { WORKER_CHECKS, type WorkerTarget } from './worker-checks.ts';

export interface VerifyNeonOptions extends RunOptions {
  /** URL of the endpoint; by default the one that the driver derives from the database's host. */
  readonly endpoint?: string | undefined;
  /** The only password that the endpoint accepts, whatever the role. */
  readonly rolePassword?: string | undefined;
}

/**
 * Tests a SQL-over-HTTP endpoint and its database, in a schema and with a role that are removed afterwards, also when it is cancelled.
 *
 * @param databaseUrl `postgres://` URL of a user who can create schemas and roles
 * @throws UserError if the database or the endpoint cannot be reached
 */
export async function verifyNeon(
  databaseUrl: string,
  { endpoint: url, rolePassword, ...options }: VerifyNeonOptions = {},
): Promise<Result[]> {
  const { log = () => {}, signal } = options;
  const began = performance.now();
  await using database = await openDatabase({ DATABASE_URL: databaseUrl }, signal);
  const pooled = new URL(database.url);
  pooled.hostname = pooledHost(pooled.hostname);
  const viaHttp = pooled.href;
  const endpoint = new SqlEndpoint(url ?? endpointOf(database.url), viaHttp, signal);
  const sandbox = newSandbox(rolePassword);
  return withConnection(database.url, async (owner) => {
    const milliseconds = Math.round(performance.now() - began);
    const wake = (await hasStartedWithin(owner, milliseconds)) ? `, which woke up within ${milliseconds} ms` : '';
    const version = await reach(endpoint);
    const { host, pathname } = new URL(viaHttp);
    log(`Testing ${endpoint.url} for ${host}${pathname}, Postgres ${version}${wake}`);
    log(`Creates the schema and the role ${sandbox.name}; if they are left behind: ${removalOf(sandbox)}`);
    try {
      await createSchema(owner, sandbox);
      const target = { owner, endpoint, sandbox, hasOwnPassword: rolePassword === undefined };
      return await check(target, options);
    } finally {
      await removeSandbox(owner, sandbox);
      log(`Removed the schema and the role ${sandbox.name}.`);
    }
  });
}

async function check(target: WorkerTarget, options: RunOptions): Promise<Result[]> {
  const { owner, endpoint, sandbox } = target;
  const results = await runChecks(WORKER_CHECKS, target, options);
  const directly = async (query: string, params: unknown[] = []) =>
    (await owner.query<unknown[]>({ text: query, values: params, rowMode: 'array' })).rows;
  const [[user]] = (await directly('select current_user')) as [[string]];
  const role = { ...sandbox, settings: await settingsOf(owner, sandbox.name) };
  const protocol = { endpoint, directly, schema: sandbox.name, owner: user, role };
  return [...results, ...(await runChecks([...PROTOCOL_CHECKS, ...SESSION_CHECKS], protocol, options))];
}

/** Whether the server started so recently. Neon starts one to wake a suspended compute. */
async function hasStartedWithin(owner: Client, milliseconds: number): Promise<boolean> {
  const { rows } = await owner.query<{ recent: boolean }>(
    `select clock_timestamp() - pg_postmaster_start_time() < $1 * interval '1 ms' as recent`,
    [milliseconds],
  );
  return rows[0]?.recent ?? false;
}

/** @returns Postgres's version. @throws UserError unless the endpoint serves the owner */
async function reach(endpoint: SqlEndpoint): Promise<string> {
  try {
    const [row] = await endpoint.rowsOf('show server_version');
    return row?.[0] ?? '';
  } catch (cause) {
    const { message, cause: reason } = cause as Error;
    const why = reason instanceof Error ? `${message}: ${reason.message}` : message;
    throw new UserError(`The SQL endpoint ${endpoint.url} does not serve the owner: ${why}`, { cause });
  }
}

/** A role's settings, as `current_setting` shows them. */
async function settingsOf(owner: Client, role: string): Promise<Record<string, string>> {
  const { rows } = await owner.query<{ name: string; value: string }>(
    `select name, set_config(name, value, true) as value
     from pg_roles, unnest(rolconfig) as setting,
       lateral (select split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)) as parts (name, value)
     where rolname = $1`,
    [role],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

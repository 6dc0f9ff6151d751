import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResultRow } from 'pg';
import { withConnection } from '../../tools/connection.ts';
import { migrate } from '../../tools/migrations.ts';
import { WORKER_ROLE } from '../../tools/worker-role.ts';
import { startPostgres } from './postgres.ts';

/** The environment variable with the URL of the server that the files of a vitest run share. */
const SHARED_SERVER = 'SURVEY_EXPORT_TEST_POSTGRES';
/**
 * A database of that server. To copy it takes far less time than to start a server and to migrate a
 * database.
 */
const TEMPLATE = 'migrated';

/** With which the Worker logs in to the servers of tests. */
export const WORKER_LOGIN = { user: WORKER_ROLE, password: 'of the worker' };

/**
 * Vitest's global setup: starts the server that the test files of all projects share. A file that
 * stops the server, or changes its settings or roles, starts one for itself.
 */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  // by an earlier project's setup; teardowns run in the reverse order
  if (process.env[SHARED_SERVER]) return undefined;
  const server = await startPostgres({ settings: { max_connections: '300' } });
  await query(server.url, `create database ${TEMPLATE}`);
  await migrateServer(new URL(`/${TEMPLATE}`, server.url).href);
  process.env[SHARED_SERVER] = server.url;
  return () => server.stop();
}

/**
 * Creates a migrated database, without an account.
 *
 * @param options.ownServer whether to start a server for it, as outside of vitest
 * @param options.locale by which its texts sort: C or one of ICU's; by default the server's
 */
export async function startDatabase({
  ownServer = false,
  locale,
}: { ownServer?: boolean; locale?: string } = {}) {
  const shared = process.env[SHARED_SERVER];
  if (shared && !ownServer) {
    const name = `test_${randomBytes(6).toString('hex')}`;
    const url = new URL(`/${name}`, shared).href;
    const provider = locale === 'C' ? 'libc' : `icu icu_locale '${locale}'`;
    const template = locale ? `template0 locale_provider ${provider} locale 'C'` : TEMPLATE;
    await query(shared, `create database ${name} template ${template} strategy file_copy`);
    if (locale) await migrate(url);
    return {
      url,
      server: undefined,
      stop: async () => void (await query(shared, `drop database ${name} with (force)`)),
    };
  }

  const server = await startPostgres();
  const url = await server.createDatabase();
  await migrateServer(url);
  return { url, server, stop: () => server.stop() };
}

/** Migrates the first database of a server, which creates the Worker's role. */
export async function migrateServer(url: string): Promise<void> {
  await migrate(url);
  await query(url, `alter role ${WORKER_ROLE} password '${WORKER_LOGIN.password}'`);
}

/** Runs one statement on a new connection. */
export async function query<R extends QueryResultRow>(
  url: string,
  sql: string,
  params: unknown[] = [],
): Promise<R[]> {
  return withConnection(url, async (client) => (await client.query<R>(sql, params)).rows);
}

/** Waits until a session of the database waits for a lock. */
export async function untilBlocked(url: string): Promise<void> {
  const select = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  while ((await query(url, select)).length === 0) await sleep(20);
}

/**
 * Creates an empty database on the server that the test files share, which has the Worker's role.
 * @returns the superuser's URL
 */
export async function createEmptyDatabase(): Promise<string> {
  const { url } = await startDatabase();
  await query(url, 'drop schema public cascade');
  await query(url, 'create schema public');
  return url;
}

/** All rows by table, as text in a fixed order: equal databases have equal dumps. */
export async function dump(url: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  await withConnection(url, async (client) => {
    for (const table of [
      'users',
      'surveys',
      'survey_settings',
      'responses',
      'api_keys',
      'api_key_uses',
    ]) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${table} as t order by t::text collate "C"`,
      );

      tables[table] = rows.map(({ row }) => row);
    }
  });

  return tables;
}

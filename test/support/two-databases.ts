import { Client, type QueryResultRow } from 'pg';
import { openDatabase } from '../../tools/database.ts';
import { emptyDataFolder } from './embedded.ts';
import { startPostgres } from './postgres.ts';

export interface RunningDatabase {
  url: string;
  stop(): Promise<void>;
}

/** The two kinds of database that the tools have to work with alike, for `describe.each`. */
export const twoDatabases = [
  { database: 'PGlite', start: startPglite },
  { database: 'Postgres', start: startServer },
] as const;

async function startPglite(): Promise<RunningDatabase> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await emptyDataFolder('test-pglite-'));
  const database = await openDatabase({ DATA_DIR: path });
  stack.defer(() => database.closeNow());
  const running = stack.move();
  return { url: database.url, stop: () => running.disposeAsync() };
}

async function startServer(): Promise<RunningDatabase> {
  const postgres = await startPostgres();
  return { url: await postgres.createDatabase(), stop: () => postgres.stop() };
}

/** Runs one statement on a connection of its own. */
export async function query<R extends QueryResultRow>(url: string, sql: string, params: unknown[] = []): Promise<R[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql, params)).rows;
  } finally {
    await client.end();
  }
}

/** Makes the database as empty as a new one. */
export async function empty(url: string): Promise<void> {
  await query(url, 'drop schema public cascade');
  await query(url, 'create schema public');
}

/** Everything that is stored, as text in a fixed order: nothing in two equal dumps is different. */
export async function dump(url: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const table of ['users', 'surveys', 'survey_settings', 'responses', 'api_keys']) {
    const rows = await query<{ row: string }>(
      url,
      `select t::text as row from ${table} as t order by t::text collate "C"`,
    );
    tables[table] = rows.map(({ row }) => row);
  }
  return tables;
}

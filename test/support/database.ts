import { Client, type QueryResultRow } from 'pg';
import { withConnection } from '../../tools/connection.ts';
import { startPostgres } from './postgres.ts';

/** A database on its own server, empty at first. */
export interface RunningDatabase {
  /** The superuser's URL. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startDatabase(): Promise<RunningDatabase> {
  const server = await startPostgres();
  return { url: await server.createDatabase(), stop: () => server.stop() };
}

/** Runs one statement on a new connection. */
export async function query<R extends QueryResultRow>(url: string, sql: string, params: unknown[] = []): Promise<R[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql, params)).rows;
  } finally {
    await client.end();
  }
}

/** Empties the database. */
export async function empty(url: string): Promise<void> {
  await query(url, 'drop schema public cascade');
  await query(url, 'create schema public');
}

/** All rows by table, as text in a fixed order: equal databases have equal dumps. */
export async function dump(url: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  await withConnection(url, async (client) => {
    for (const table of ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses']) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${table} as t order by t::text collate "C"`,
      );
      tables[table] = rows.map(({ row }) => row);
    }
  });
  return tables;
}

import { InvalidArgumentError } from 'commander';
import { Client } from 'pg';
import { migrateServer } from '../test/support/database.ts';
import { startPostgres } from '../test/support/postgres.ts';

/** A migrated Postgres database with enough memory for large surveys. */
export interface BenchDatabase extends AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  /** Process id of the server. */
  readonly pid: number;
}

export async function startDatabase(): Promise<BenchDatabase> {
  await using cleanUp = new AsyncDisposableStack();
  const server = await startPostgres({ settings: { shared_buffers: '1GB', max_wal_size: '4GB' } });
  cleanUp.defer(() => server.stop());
  const url = await server.createDatabase();
  await migrateServer(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  cleanUp.defer(() => client.end());
  const running = cleanUp.move();
  return { url, client, pid: server.pid, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Parses the option `--rows`. */
export function parseRows(text: string): number {
  if (!/^[1-9]\d{3,8}$/.test(text))
    throw new InvalidArgumentError('use a number from 1000 to 999999999.');
  return Number(text);
}

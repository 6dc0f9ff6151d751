import pg from 'pg';
import { stackAddress } from '../../support/stack-address.ts';

const NAME = 'kill';

/** Terminates all other connections to the database. Does nothing while the server restarts. */
export async function killBackends(): Promise<void> {
  const client = new pg.Client({ connectionString: stackAddress().databaseUrl, application_name: NAME });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name <> $1 and backend_type = 'client backend'`,
      [NAME],
    );
  } catch {
    // the server is restarting
  } finally {
    await client.end().catch(() => {});
  }
}

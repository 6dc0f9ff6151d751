import { Client } from 'pg';

/** Runs `work` on a new connection. */
export async function withConnection<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // a lost connection fails the running query; unhandled, it would end the process first
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs `work` in one transaction: on any error the database is as it was before. */
export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // without a connection, the server has rolled back already
    throw error;
  }
}

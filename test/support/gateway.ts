import { Client } from 'pg';
import { startSqlGateway } from '../../tools/sql-gateway.ts';
import { SqlEndpoint } from '../../tools/verify-neon/endpoint.ts';

export const PASSWORD = 'the gateway’s';

/** Limit of {@link startGateway} for requests and for responses, in bytes. */
export const LIMIT = 64 * 1024;

/** A gateway, queried as an endpoint, and its database. */
export type GatewayUnderTest = Awaited<ReturnType<typeof startGateway>>;

/** Starts a gateway for the database at `databaseUrl`. */
export async function startGateway(databaseUrl: string, maxConnections: number, sendsCancelRequests = true) {
  const gateway = await startSqlGateway({
    database: databaseUrl,
    password: PASSWORD,
    maxConnections,
    sendsCancelRequests,
    maxResponseBytes: LIMIT,
    maxRequestBytes: LIMIT,
  });
  // The database as a client names it. Neon's driver expects a host with a dot.
  const named = Object.assign(new URL(databaseUrl), { host: 'db.example.com', password: PASSWORD });

  /** The rows of a statement that the database runs without the gateway. */
  async function directly(query: string, params: unknown[] = []): Promise<unknown[][]> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<unknown[]>({ text: query, values: params, rowMode: 'array' });
      return rows;
    } finally {
      await client.end();
    }
  }

  return Object.assign(new SqlEndpoint(gateway.url, named.href), { close: () => gateway.close(), directly });
}

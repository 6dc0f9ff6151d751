import { Client } from 'pg';
import { startSqlGateway } from '../../tools/sql-gateway.ts';

export const PASSWORD = 'the gateway’s';

/** Limit of {@link startGateway} for requests and for responses, in bytes. */
export const LIMIT = 64 * 1024;

/** Parts of a client's connection string that differ from the administrator's. */
interface Identity {
  user?: string;
  password?: string;
  database?: string;
}

/** A gateway, and functions that query it or its database. */
export type GatewayUnderTest = Awaited<ReturnType<typeof startGateway>>;

/** Starts a gateway for the database at `databaseUrl`. */
export async function startGateway(databaseUrl: string, maxConnections: number) {
  const limits = { maxResponseBytes: LIMIT, maxRequestBytes: LIMIT };
  const gateway = await startSqlGateway({ database: databaseUrl, password: PASSWORD, maxConnections, ...limits });

  /** The database as a client names it. Neon's driver expects a host with a dot. */
  function connectionString(identity: Identity = {}): string {
    const url = new URL(databaseUrl);
    url.host = 'db.example.com';
    url.username = identity.user ?? url.username;
    url.password = identity.password ?? PASSWORD;
    url.pathname = identity.database ?? url.pathname;
    return url.href;
  }

  /** Sends a request with the driver's headers. */
  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        'Neon-Connection-String': connectionString(),
        'Neon-Raw-Text-Output': 'true',
        'Neon-Array-Mode': 'true',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The status and the fields of an error. */
  async function failure(body: unknown, headers?: Record<string, string>): Promise<Record<string, unknown>> {
    const { status, text } = await post(body, headers);
    const fields: Record<string, unknown> = JSON.parse(text);
    return { status, ...fields };
  }

  /** The rows of a statement. */
  async function rowsOf(query: string, params: (string | null)[] = [], headers?: Record<string, string>) {
    const { status, text } = await post({ query, params }, headers);
    if (status !== 200) throw new Error(text);
    const { rows }: { rows: (string | null)[][] } = JSON.parse(text);
    return rows;
  }

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

  return { url: gateway.url, close: () => gateway.close(), connectionString, post, failure, rowsOf, directly };
}

import { Client } from 'pg';
import { startSqlGateway } from '../../tools/sql-gateway.ts';
import { startPostgres } from './postgres.ts';

/** A database for a gateway, empty. */
interface OpenDatabase {
  url: string;
  close(): Promise<void>;
}

export const PASSWORD = 'the gateway’s';

/** In bytes, for requests as well as responses. */
export const LIMIT = 64 * 1024;

export const databases = [{ name: 'Postgres', open: openPostgres, maxConnections: 3 }];

export async function openPostgres(): Promise<OpenDatabase> {
  const server = await startPostgres();
  return { url: await server.createDatabase(), close: () => server.stop() };
}

/** What a client puts into its connection string, where it is not the administrator's. */
export interface Identity {
  user?: string;
  password?: string;
  database?: string;
}

/** A gateway in front of a database, and ways to ask both. */
export type GatewayUnderTest = Awaited<ReturnType<typeof startGateway>>;

/** Starts a gateway in front of `database`. */
export async function startGateway(database: OpenDatabase, maxConnections: number) {
  const limits = { maxResponseBytes: LIMIT, maxRequestBytes: LIMIT };
  const gateway = await startSqlGateway({ database: database.url, password: PASSWORD, maxConnections, ...limits });

  /** As a client of the gateway names the database: Neon's driver wants a host with a dot in it. */
  function connectionString(identity: Identity = {}): string {
    const url = new URL(database.url);
    url.host = 'db.example.com';
    url.username = identity.user ?? url.username;
    url.password = identity.password ?? PASSWORD;
    url.pathname = identity.database ?? url.pathname;
    return url.href;
  }

  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'Neon-Connection-String': connectionString(), ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The fields of an error, together with the status. */
  async function failure(body: unknown, headers?: Record<string, string>): Promise<Record<string, unknown>> {
    const { status, text } = await post(body, headers);
    const fields: Record<string, unknown> = JSON.parse(text);
    return { status, ...fields };
  }

  /** The rows of a statement as arrays of raw text, as the driver gets them. */
  async function rowsOf(query: string, params: unknown[] = [], headers: Record<string, string> = {}): Promise<unknown> {
    const raw = { 'Neon-Raw-Text-Output': 'true', 'Neon-Array-Mode': 'true' };
    const { status, text } = await post({ query, params }, { ...raw, ...headers });
    if (status !== 200) throw new Error(text);
    const { rows }: { rows: unknown } = JSON.parse(text);
    return rows;
  }

  /** Asks the database itself. */
  async function directly(query: string, params: unknown[] = []): Promise<unknown[][]> {
    const client = new Client({ connectionString: database.url });
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

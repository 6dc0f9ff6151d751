import { startGateway } from '../../gateway/server.ts';
import { withConnection } from '../../tools/connection.ts';

/** Limit of {@link startTestGateway} for responses, in bytes. */
const LIMIT = 64 * 1024;
/** The gateway's. */
export const TOKEN = 'a-token-of-thirty-two-characters';

/** Parts of a connection string that differ from the owner's. */
export interface Identity {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

export type Headers = Readonly<Record<string, string>>;

/** A suspended database wakes up in seconds; a large result takes as long as it takes to arrive. */
const TIMEOUT_MS = 60_000;

/** A SQL-over-HTTP endpoint, queried with the headers of Neon's driver, and its database. */
export class SqlEndpoint {
  readonly url: string;
  readonly #connection: string;
  readonly #database: string;

  /**
   * @param connection `postgres://` URL of the database's owner, for the header
   * `Neon-Connection-String`
   * @param database URL of the same database and user, for connections without the endpoint
   */
  constructor(url: string, connection: string, database: string) {
    this.url = url;
    this.#connection = connection;
    this.#database = database;
  }

  /** The connection string of an identity, by default the owner's. */
  connectionString({ user, password, database }: Identity = {}): string {
    const url = new URL(this.#connection);
    url.username = user ?? url.username;
    url.password = password ?? url.password;
    url.pathname = database ?? url.pathname;
    return url.href;
  }

  /** The headers that send a request as an identity, by default the owner's. */
  as(identity?: Identity): Headers {
    return {
      'Neon-Connection-String': this.connectionString(identity),
      Authorization: `Bearer ${TOKEN}`,
    };
  }

  /** @param body a text, or bytes, are sent as they are, anything else as JSON */
  async post(body: unknown, headers: Headers = {}, signal?: AbortSignal) {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const driver = { 'Neon-Raw-Text-Output': 'true', 'Neon-Array-Mode': 'true' };
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { ...this.as(), ...driver, ...headers },
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });

    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The status and the fields of an error. */
  async failure(body: unknown, headers?: Headers): Promise<Record<string, unknown>> {
    const { status, text } = await this.post(body, headers);
    return { status, ...(JSON.parse(text) as object) };
  }

  /** The rows of a statement. @throws Error unless the status is 200 */
  async rowsOf(
    query: string,
    params: readonly (string | null)[] = [],
    headers?: Headers,
  ): Promise<(string | null)[][]> {
    const { status, text } = await this.post({ query, params }, headers);
    if (status !== 200)
      throw new Error(`${query.slice(0, 80)}: status ${status}, ${text.slice(0, 300)}`);
    return (JSON.parse(text) as { rows: (string | null)[][] }).rows;
  }

  /** The rows of a statement that the database runs without the endpoint. */
  async directly(query: string, params: unknown[] = []): Promise<unknown[][]> {
    const statement = { text: query, values: params, rowMode: 'array' } as const;
    return withConnection(
      this.#database,
      async (client) => (await client.query<unknown[]>(statement)).rows,
    );
  }
}

/** Starts a gateway for the database at `databaseUrl`, whose user is its owner. */
export async function startTestGateway(
  databaseUrl: string,
  options: Partial<Parameters<typeof startGateway>[0]> = {},
) {
  const gateway = await startGateway({
    database: databaseUrl,
    token: TOKEN,
    maxResponseBytes: LIMIT,
    ...options,
  });

  const { username, password } = new URL(databaseUrl);
  const [user = '', secret = ''] = [username, password].map(decodeURIComponent);
  const connection = gateway.connectionString({ user, password: secret });
  const close = (now = true) => gateway.close({ now });
  return Object.assign(new SqlEndpoint(gateway.url, connection, databaseUrl), { close });
}

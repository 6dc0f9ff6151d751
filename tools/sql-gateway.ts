import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import { Failure, failureJson, failureOf } from './sql-gateway/failure.ts';
import { loginOf, readBody, statementOf } from './sql-gateway/request.ts';
import { Sessions } from './sql-gateway/sessions.ts';

/** Options of {@link startSqlGateway}. */
export interface SqlGatewayOptions {
  /**
   * `postgres://` URL of the database that statements run in. Clients' roles other than its user are set with `SET ROLE`, which a
   * statement can undo.
   */
  database: string;
  /** The password that clients must send, whatever their role. */
  password: string;
  /** Concurrent connections to the database, 10 by default. Further requests wait. */
  maxConnections?: number;
  /** The most bytes of a response, 64 MiB by default. A longer one fails with 507. */
  maxResponseBytes?: number;
  /** The most bytes of a request, 64 MiB by default. A longer one is refused. */
  maxRequestBytes?: number;
  /**
   * Whether a statement is cancelled when its client disconnects, true by default. Otherwise only its connection is closed. Neon's
   * proxy cancels without TLS, which a compute that demands TLS refuses, and then closes the connection.
   */
  sendsCancelRequests?: boolean;
  /**
   * Awaited before each statement, to simulate the latency of a distant database, or a compute that wakes up. A {@link Failure} that it
   * throws is the response, to simulate what Neon's proxy refuses.
   */
  beforeRequest?: () => Promise<unknown>;
}

const MIB = 1024 * 1024;

/**
 * Starts an HTTP server on 127.0.0.1 that runs SQL as Neon's proxy does, in front of any Postgres server. It supports what
 * `@neondatabase/serverless` 1.2.0 sends for a single query: raw text, rows as arrays, parameters as text. Batches
 * (transactions), object rows, parsed values and browsers (CORS) are not supported.
 *
 * The protocol, from proxy/src/serverless/sql_over_http.rs of github.com/neondatabase/neon unless noted:
 * - `POST /sql`, body `{"query":"…","params":[…]}`.
 * - `Neon-Connection-String` holds a `postgres://` URL, of which user, password and database count. The driver
 *   always sends the flags `Neon-Raw-Text-Output: true` and `Neon-Array-Mode: true`, which are not read here.
 * - The response is one JSON body, not a stream: `{"fields":[{"name","dataTypeID","tableID","columnID","dataTypeSize",
 *   "dataTypeModifier","format":"text"}],"rows":[["…",null]],"command":"SELECT","rowCount":1,"rowAsArray":true}`.
 * - Statements use the extended query protocol with all values as text, so that Postgres refuses several statements in one
 *   text (42601). COPY is refused.
 * - Errors are `{"message","code","detail","hint","position",…,"severity",…}`. 400: errors of Postgres, a wrong password or
 *   a lost connection (these two with an empty code). 413: the request is too large. 507: the response is too large, checked
 *   before each row. 500: the database cannot be reached.
 * - The statement is cancelled when the client closes the connection. Each request starts with a clean session
 *   (conn_pool_lib.rs discards the session's state when a connection returns to the pool).
 *
 * There are four differences. The password is the gateway's, not the role's: the user of the connection string is the role that
 * statements run as, with the settings that `ALTER ROLE … SET` gave it. There is no PgBouncer, which on Neon's pooled host does not
 * reset a session between the transactions of different clients. Neon's proxy does not read a request that is too large to its end, so
 * a client that is still sending it may see a closed connection instead of the 413. Neon's messages for a connection string or a body
 * that the driver never sends have more details.
 */
export async function startSqlGateway(options: SqlGatewayOptions) {
  const { database, password, maxConnections = 10, sendsCancelRequests = true } = options;
  const { maxResponseBytes = 64 * MIB, maxRequestBytes = 64 * MIB } = options;
  const upstream = new Client({ connectionString: database }); // never connected: it resolves the defaults of the URL
  const sessions = new Sessions(database, maxConnections, sendsCancelRequests);

  async function run(request: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
    const login = loginOf(request.headers, password);
    if (login.database !== upstream.database)
      throw new Failure(400, `database "${login.database}" does not exist`, { severity: 'FATAL', code: '3D000' });
    const statement = statementOf(await readBody(request, maxRequestBytes));
    await options.beforeRequest?.();
    const role = login.user === upstream.user ? undefined : login.user;
    return sessions.run(statement, { role, maxBytes: maxResponseBytes, signal });
  }

  const server = createServer(async (request, response) => {
    const clientGone = new AbortController();
    response.on('close', () => clientGone.abort());
    try {
      send(response, 200, await run(request, clientGone.signal));
    } catch (error) {
      const failure = failureOf(error);
      send(response, failure.status, failureJson(failure));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** The URL of `POST /sql`: the driver's `fetchEndpoint`. */
    url: `http://127.0.0.1:${port}/sql`,
    /** Stops the server and cancels the statements that are running. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections(); // cancels the statements
      await Promise.all([closed, sessions.close()]);
    },
  };
}

function send(response: ServerResponse, status: number, body: Buffer | string): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    .end(body);
}

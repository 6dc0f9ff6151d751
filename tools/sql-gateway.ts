import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Client } from 'pg';
import { reasonOf } from './command.ts';
import { Failure, failureJson, sqlFailure } from './sql-gateway/failures.ts';
import { Pool } from './sql-gateway/pool.ts';
import { checkPassword, isTrue, loginOf, readBody, workOf } from './sql-gateway/request.ts';
import { execute } from './sql-gateway/execute.ts';

/** What {@link startSqlGateway} needs to know. */
export interface SqlGatewayOptions {
  /** `postgres://` URL of the database that statements run in, of a user who may take on the clients' roles. */
  database: string;
  /** The password that clients have to give, whatever their role. */
  password: string;
  /** Port to listen on; a free one by default. */
  port?: number;
  /** Connections to the database at a time (10 by default). With 1, others get their turn after every request. */
  maxConnections?: number;
  /** No further row is added to a response that is longer (64 MiB by default). */
  maxResponseBytes?: number;
  /** Requests that are longer are refused (64 MiB by default). */
  maxRequestBytes?: number;
  /** Awaited before a statement is run: a network that is further away, for tests and benchmarks. */
  beforeRequest?: () => Promise<unknown>;
}

/** A running gateway. */
export interface SqlGateway {
  /** Where to send statements: the driver's `fetchEndpoint`. */
  readonly url: string;
  /** Stops it at once: statements that are running are cancelled. */
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const PREFLIGHT = {
  Allow: 'OPTIONS, POST',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'Authorization, Neon-Connection-String, Neon-Raw-Text-Output, Neon-Array-Mode, Neon-Pool-Opt-In, Neon-Batch-Read-Only, Neon-Batch-Isolation-Level',
  'Access-Control-Max-Age': '86400',
};

/**
 * Starts an HTTP server on 127.0.0.1 that runs SQL as Neon's proxy does (`POST /sql`), in front of any Postgres: with it,
 * `@neondatabase/serverless` works without Neon. The user that a client names in its connection string is the role its
 * statements run as (`SET ROLE`, and the role's settings); its password is the gateway's, not the role's.
 *
 * The wire format follows proxy/src/serverless of github.com/neondatabase/neon.
 */
export async function startSqlGateway(options: SqlGatewayOptions): Promise<SqlGateway> {
  const { database, password, maxConnections = 10 } = options;
  const { maxResponseBytes = 64 * MIB, maxRequestBytes = 64 * MIB } = options;
  const upstream = new Client({ connectionString: database }); // never connected: it knows the defaults for what the URL lacks
  const pool = new Pool(database, maxConnections);

  async function run(request: IncomingMessage, signal: AbortSignal): Promise<Buffer[]> {
    const login = loginOf(request.headers);
    checkPassword(login, password);
    if (login.database !== upstream.database) throw noSuchDatabase(login.database);
    const work = workOf(await readBody(request, maxRequestBytes), request.headers);
    await options.beforeRequest?.();
    const role = login.user === upstream.user ? undefined : login.user;
    const rawText = isTrue(request.headers, 'neon-raw-text-output');
    return pool.use(role, signal, (connection) =>
      execute(connection, work, { rawText, maxBytes: maxResponseBytes }, signal),
    );
  }

  const server = createServer((request, response) => {
    response.setHeader('neon-request-id', randomUUID());
    const [pathname] = (request.url ?? '').split('?');
    if (pathname === '/sql' && request.method === 'POST') void answer(response, (signal) => run(request, signal));
    else if (pathname === '/sql' && request.method === 'OPTIONS') response.writeHead(200, PREFLIGHT).end();
    else respond(response, 400, [Buffer.from('"query is not supported"')]);
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gateway has no port');

  return {
    url: `http://127.0.0.1:${address.port}/sql`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      pool.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers with what `run` returns or throws. Its signal tells when the client has gone. */
async function answer(response: ServerResponse, run: (signal: AbortSignal) => Promise<Buffer[]>): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.setHeader('Access-Control-Allow-Origin', '*');
  try {
    respond(response, 200, await run(gone.signal));
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(500, reasonOf(error));
    respond(response, failure.status, [Buffer.from(failureJson(failure))]);
  }
}

function respond(response: ServerResponse, status: number, body: Buffer[]): void {
  const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length });
  for (const chunk of body) response.write(chunk);
  response.end();
}

function noSuchDatabase(name: string): Failure {
  const fields = { S: 'FATAL', C: '3D000', M: `database "${name}" does not exist` };
  return sqlFailure(new Map(Object.entries(fields)));
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { DatabaseError } from 'pg';
import { Connections } from './connections.ts';
import { Failure, failureOf } from './failure.ts';
import { batchOf, connectionString, hasToken, type Login, loginOf, readBody } from './request.ts';
import { responseOf } from './result.ts';
import { Semaphore } from './semaphore.ts';

/** Options of {@link startGateway}. */
export interface GatewayOptions {
  /** `postgres://` URL of the only database that is served. Its user and password are not used. */
  readonly database: string;
  /** What every request must have, as `Authorization: Bearer <token>`. */
  readonly token: string;
  /** Where to listen: on a free port of 127.0.0.1 by default. */
  readonly host?: string;
  readonly port?: number;
  /** Connections to Postgres at a time, and so requests at a time. */
  readonly connections?: number;
  /** The most bytes of a request, and of a response: 64 MiB by default, as Neon. */
  readonly maxRequestBytes?: number;
  readonly maxResponseBytes?: number;
  /** Whether statements are cancelled when their client disconnects. Neon's proxy cannot always do so, and then closes the connection. */
  readonly cancels?: boolean;
  /** Is called with each request when its response has ended. */
  readonly log?: (line: LogLine) => void;
}

/** What is logged of a request: no SQL, no values, no secrets. */
export interface LogLine {
  /** The `Neon-Request-Id` of the response. */
  id: string;
  /** Missing if there was no response. */
  status?: number;
  /** `client left` includes a client that was cut off because it was too slow. */
  end: 'complete' | 'client left';
  /** The user of Postgres. */
  user?: string;
  /** From the request's headers to the end of the response. */
  durationMs: number;
  /** The length of the response. */
  bytes: number;
  /** The SQLSTATE of an error. */
  code?: string;
  /** The message of an error, unless Postgres has sent it: those can quote values. */
  error?: string;
}

const MIB = 1024 * 1024;
/** Large requests, and large responses, that are in memory at a time. */
const LARGE_AT_A_TIME = 4;
/** What a client must send within this time, in milliseconds: its headers; all of its request. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** What a client must read of a response in each of these periods: so many bytes, or the rest. Others wait for it for 10 s at most. */
const SLOWEST = { bytes: 128 * 1024, ms: 4_000 };
/** Longer than reverse proxies keep idle connections, so that none is closed when a request is on its way. */
const KEEP_ALIVE_MS = 75_000;
const MOST_SOCKETS = 1_000;
/** How long the answer to a health check is given again. */
const HEALTH_MS = 1_000;

/**
 * Starts an HTTP server that runs SQL as Neon's proxy does, in front of one database of any Postgres server.
 *
 * The protocol, from proxy/src/serverless of github.com/neondatabase/neon:
 * - `POST /sql`, with the body `{"query":"…","params":[…]}`, or `{"queries":[…]}` for statements in one transaction, whose properties
 *   are the headers `Neon-Batch-Isolation-Level`, `Neon-Batch-Read-Only` and `Neon-Batch-Deferrable`.
 * - `Neon-Connection-String` is a `postgres://` URL, with user and password.
 * - `Neon-Raw-Text-Output: true` leaves values as Postgres prints them; `Neon-Array-Mode: true`, or `arrayMode` in the body, returns
 *   rows as arrays. The driver always sends both.
 * - The response is one JSON body, not a stream: `{"fields":[{"name","dataTypeID","tableID","columnID","dataTypeSize",
 *   "dataTypeModifier","format":"text"}],"rows":[["…",null]],"command":"SELECT","rowCount":1,"rowAsArray":true}`, or
 *   `{"results":[…]}`. `Neon-Request-Id` is in every response.
 * - Statements use the extended query protocol with all values as text, so that Postgres refuses several statements in one
 *   text (42601). COPY is refused.
 * - Errors are `{"message","code","detail","hint","position",…,"severity",…}`. 400: errors of Postgres, a wrong password or
 *   a lost connection (these two with an empty code), and what is not understood. 413: the request is too large. 507: the response is
 *   too large. 500: Postgres cannot be reached or cannot serve now. 503: no connection became free in time.
 * - A statement is cancelled when its client disconnects. Each request has a clean session.
 *
 * Neon's proxy does not do the rest: a token is required (401); a connection string must name the host, the port and the database of
 * `database`; there is no CORS, since a token does not belong in a browser; `GET /healthz` is 200 when Postgres can be reached, else 503.
 */
export async function startGateway(options: GatewayOptions) {
  const {
    token,
    database,
    connections: most = 20,
    cancels = true,
    log = () => {},
    host = '127.0.0.1',
    port = 0,
  } = options;
  const { maxRequestBytes = 64 * MIB, maxResponseBytes = 64 * MIB } = options;
  const connections = new Connections(database, most, cancels);
  const bodies = new Semaphore(LARGE_AT_A_TIME, `all ${LARGE_AT_A_TIME} turns for large requests`);
  const responses = new Semaphore(LARGE_AT_A_TIME, `all ${LARGE_AT_A_TIME} turns for large responses`);
  let health: Promise<boolean> | undefined;

  async function respond(request: IncomingMessage, line: LogLine, signal: AbortSignal): Promise<Buffer[]> {
    const { headers, method, url } = request;
    if (url === '/healthz' && (method === 'GET' || method === 'HEAD')) {
      health ??= connections.isReachable().finally(() => setTimeout(() => (health = undefined), HEALTH_MS).unref());
      if (await health) return [Buffer.from('{"status":"ok"}')];
      throw new Failure(503, 'Postgres cannot be reached');
    }
    if (!hasToken(headers, token)) throw new Failure(401, 'expected "Authorization: Bearer" with the GATEWAY_TOKEN');
    if (url !== '/sql' || method !== 'POST') throw new Failure(400, 'expected POST /sql or GET /healthz');
    const login = loginOf(headers, connections.place);
    line.user = login.user;
    const batch = batchOf(headers, await readBody(request, { limit: maxRequestBytes, turns: bodies, signal }));
    return connections.run(login, signal, (client) =>
      responseOf(client, batch, { maxBytes: maxResponseBytes, turns: responses, signal }),
    );
  }

  const timeouts = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const server = createServer({ ...timeouts, connectionsCheckingInterval: 5_000 }, async (request, response) => {
    const begun = performance.now();
    const line: LogLine = { id: randomUUID(), end: 'client left', durationMs: 0, bytes: 0 };
    const ended = new AbortController();
    response.on('close', () => {
      ended.abort();
      line.durationMs = Math.round(performance.now() - begun);
      if (response.writableFinished) line.end = 'complete';
      log(line);
    });
    response.setHeader('Neon-Request-Id', line.id);
    let status = 200;
    let body: Buffer[];
    try {
      body = await respond(request, line, ended.signal);
    } catch (error) {
      const failure = failureOf(error);
      ({ status } = failure);
      body = [failure.body];
      if (failure.fields.code) line.code = failure.fields.code;
      if (!(failure.fields instanceof DatabaseError)) line.error = failure.message;
      if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      request.resume(); // what has not been read: otherwise the next request on this connection would wait for it
    }
    if (ended.signal.aborted) return;
    response.shouldKeepAlive &&= server.listening;
    line.status = status;
    line.bytes = body.reduce((sum, part) => sum + part.length, 0);
    await send(response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': line.bytes }), body);
  });
  server.maxConnections = MOST_SOCKETS;

  /** Stops to accept requests, and ends when none is running. @param now ends those that are running */
  async function close({ now = false } = {}): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    if (now) server.closeAllConnections(); // cancels the statements
    if (now) connections.close();
    await closed;
    connections.close();
  }
  server.listen(port, host);
  await once(server, 'listening');
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    /** The URL of `POST /sql`: the driver's `fetchEndpoint`. */
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/sql`,
    /** The connection string for a login. */
    connectionString: (login: Login) => connectionString(connections.place, login),
    server,
    close,
  };
}

/** Sends a body. Cuts off a client that is too slow. Ends when the client has disconnected, too. */
async function send(response: ServerResponse, body: Buffer[]): Promise<void> {
  let read = 0;
  const timer = setInterval(() => {
    if (read < SLOWEST.bytes) response.destroy();
    read = 0;
  }, SLOWEST.ms);
  const pieces = function* () {
    for (const part of body)
      for (let start = 0; start < part.length; start += SLOWEST.bytes) {
        const piece = part.subarray(start, start + SLOWEST.bytes);
        yield piece;
        read += piece.length; // the client is ready for the next
      }
  };
  await pipeline(pieces, response)
    .catch(() => {}) // the client has disconnected
    .finally(() => clearInterval(timer));
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server, type Socket } from 'node:net';
import { DatabaseError } from 'pg';
import { Connections } from './connections.ts';
import { Failure, failureOf } from './failure.ts';
import {
  batchOf,
  connectionString,
  hasToken,
  type Login,
  loginOf,
  MAX_BYTES,
  readBody,
} from './request.ts';
import { Body, responseTo } from './result.ts';
import { turns } from './turns.ts';

export interface GatewayOptions {
  /** `postgres://` URL of the only database that is served. Its user and password are not used. */
  readonly database: string;
  /** What every request must have, as `Authorization: Bearer <token>`. */
  readonly token: string;
  /** By default a free port of 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  /** The most connections to Postgres, and so requests at a time: 20 by default. */
  readonly connections?: number;
  /** 64 MiB by default, as with Neon. */
  readonly maxResponseBytes?: number;
  /** Called when a response has ended. */
  readonly log?: (line: LogLine) => void;
}

/** What is logged of a request: no SQL, no values, no secrets. */
export interface LogLine {
  /** The `Neon-Request-Id` of the response. */
  id: string;
  status?: number;
  /** `client left` also if it was cut off because it was too slow. */
  end: 'complete' | 'client left';
  /** The user of Postgres. */
  user?: string;
  /** From the headers of the request to the end of the response. */
  durationMs: number;
  /** The length of the response. */
  bytes: number;
  /**
   * The SQLSTATE of an error, and its message if it is not that of a statement, which can quote
   * values.
   */
  code?: string;
  error?: string;
}

/** Bytes that large requests and responses take at a time: four of the largest responses. */
const MEMORY = 4 * MAX_BYTES;
/**
 * In milliseconds. Idle connections last longer than reverse proxies use them, so that none is
 * closed while a request is on its way.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
};
/**
 * How long a client may read nothing of a response; and how much it must read in the time after
 * that.
 */
const STALLED_MS = 4_000;
const SLOWEST_BYTES_PER_MS = 256;
/** Connections on which no request had the token. A further one ends the oldest. */
const MOST_STRANGERS = 1_000;
/** How long the result of a health check is used again. */
const HEALTH_MS = 1_000;

/**
 * Starts an HTTP server that runs SQL as Neon's proxy does, in front of one database of any
 * Postgres server.
 *
 * The protocol, from proxy/src/serverless of github.com/neondatabase/neon:
 *
 * - `POST /sql` with `{"query":"…","params":[…]}`, or with `{"queries":[…]}` for a transaction, whose
 *   properties are the headers `Neon-Batch-Isolation-Level`, `Neon-Batch-Read-Only` and
 *   `Neon-Batch-Deferrable`. Several statements in one text are refused (42601), and so is COPY.
 * - `Neon-Connection-String` is a `postgres://` URL with user and password. Values are what Postgres
 *   prints, and rows are arrays, as with `Neon-Raw-Text-Output` and `Neon-Array-Mode`, which Neon's
 *   driver always sends.
 * - The response is one JSON body, not a stream: `{"fields":[{"name","dataTypeID","tableID",
 *   "columnID","dataTypeSize","dataTypeModifier","format":"text"}],"rows":[["…",null]],
 *   "command":"SELECT","rowCount":1,"rowAsArray":true}`, or `{"results":[…]}`. Every response has
 *   `Neon-Request-Id`.
 * - Errors are `{"message","code","detail","hint","position",…,"severity",…}`. 400: errors of
 *   Postgres, a wrong password or a lost connection (these two with an empty code), and requests that
 *   are not understood. 413 and 507: the request, or the response, is too large. 500: Postgres cannot
 *   be reached or cannot serve now. 503: no connection became free in time.
 * - A connection has one request at a time: pipelining closes it.
 * - A statement is cancelled when its client disconnects. Sessions are reset (`DISCARD ALL`) between
 *   requests. Unlike Neon's proxy, it requires a token (401) and a connection string that names the
 *   host, port and database of `database`. There is no CORS, since a token does not belong in a
 *   browser. `GET /healthz` is 200 when Postgres can be reached, otherwise 503.
 */
export async function startGateway({
  host = '127.0.0.1',
  port = 0,
  maxResponseBytes = MAX_BYTES,
  ...options
}: GatewayOptions) {
  const connections = new Connections(options.database, options.connections ?? 20);
  const memory = turns(MEMORY, `${MEMORY} bytes for large requests and responses`);
  const strangers = new Set<Socket>();
  let health: Promise<boolean> | undefined;

  const forget = () => (health = undefined);
  const isHealthy = () =>
    (health ??= connections.isReachable().finally(() => setTimeout(forget, HEALTH_MS).unref()));

  /** Responds to a request, and adds its user to the line. @throws Failure or DatabaseError */
  async function respond(
    request: IncomingMessage,
    line: LogLine,
    signal: AbortSignal,
  ): Promise<Body> {
    const { headers, method, url } = request;
    if (url === '/healthz' && (method === 'GET' || method === 'HEAD')) {
      if (!(await isHealthy())) throw new Failure(503, 'Postgres cannot be reached');
      return new Body().write('{"status":"ok"}');
    }

    if (!hasToken(headers, options.token))
      throw new Failure(401, 'expected the token, as Authorization: Bearer');
    strangers.delete(request.socket);
    if (url !== '/sql' || method !== 'POST')
      throw new Failure(400, 'expected POST /sql or GET /healthz');

    const login = loginOf(headers, connections.place);
    line.user = login.user;

    const limits = { maxResponseBytes, memory, signal };

    // no body is read before Postgres has checked the password
    return connections.run(login, signal, async (client) =>
      responseTo(batchOf(headers, await readBody(request, limits)), client, limits),
    );
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // of a pipelined request: what it holds would wait for the response before it
    if (!response.socket) return void request.socket.destroy();
    const begun = performance.now();
    const line: LogLine = { id: randomUUID(), end: 'client left', durationMs: 0, bytes: 0 };
    const ended = new AbortController();

    response.setHeader('Neon-Request-Id', line.id).on('close', () => {
      ended.abort();
      line.durationMs = Math.round(performance.now() - begun);
      if (response.writableFinished) line.end = 'complete';
      options.log?.(line);
    });

    const body = await respond(request, line, ended.signal).catch((error: unknown) => {
      const failure = failureOf(error);
      line.status = failure.status;
      if (failure.fields.code) line.code = failure.fields.code;
      if (!(failure.fields instanceof DatabaseError)) line.error = failure.message;
      if (failure.status === 401)
        response.setHeader('WWW-Authenticate', 'Bearer').shouldKeepAlive = false;
      // what has not been read: otherwise the next request on this connection would wait for it
      request.resume();
      return new Body().write(failure.json);
    });

    line.status ??= 200;
    line.bytes = body.bytes;
    response.shouldKeepAlive &&= server.listening;
    response.writeHead(line.status, {
      'Content-Type': 'application/json',
      'Content-Length': body.bytes,
    });

    send(response, body);
  }

  const server = createServer(TIMEOUTS, handle);
  server.on('connection', (socket: Socket) => {
    const [oldest] = strangers.add(socket.on('close', () => strangers.delete(socket)));
    if (strangers.size > MOST_STRANGERS) oldest?.destroy();
  });
  server.listen(port, host);
  await once(server, 'listening');

  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    /** The URL of `POST /sql`: the driver's `fetchEndpoint`. */
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/sql`,
    /** The connection string for a login. */
    connectionString: (login: Login) => connectionString(connections.place, login),
    server,
    /**
     * Accepts no more requests, and waits for those that are running. @param now ends them, and
     * cancels their statements
     */
    async close({ now = false } = {}): Promise<void> {
      // that of the HTTP server would also end its timeouts, and a client might send no more
      Server.prototype.close.call(server);
      server.closeIdleConnections();
      if (now) server.closeAllConnections();
      await once(server, 'close');
      connections.close();
    },
  };
}

/** Sends a body. Cuts off a client that reads nothing for a while, or too little in all. */
function send(response: ServerResponse, { parts, bytes }: Body): void {
  const cutOff = () => response.destroy();
  response.setTimeout(STALLED_MS, cutOff);
  const timer = setTimeout(cutOff, STALLED_MS + bytes / SLOWEST_BYTES_PER_MS);
  response.on('close', () => clearTimeout(timer));
  for (const part of parts) response.write(part);
  response.end();
}

import { connect, Socket } from 'node:net';
import { type Client, DatabaseError, Pool, type PoolClient } from 'pg';
import { connectFailure, Failure } from './failure.ts';
import type { Statement } from './request.ts';
import { resultOf } from './result.ts';

/**
 * Gives a session the role $1 and the settings of that role (`ALTER ROLE … SET`), which a login applies but `SET ROLE` does not.
 * Settings for this database override those for all. The role comes last, because the user may have more rights.
 */
const BECOME_ROLE = `
  (SELECT set_config(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1), false)
   FROM pg_db_role_setting, unnest(setconfig) setting
   WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = $1)
     AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
   ORDER BY setdatabase)
  UNION ALL
  SELECT set_config('role', $1, false)`;

/** Connections to one database, which give every statement a clean session. */
export class Sessions {
  readonly #pool: Pool;
  readonly #sendsCancelRequests: boolean;
  readonly #sockets = new Set<Socket>();
  readonly #roles = new WeakMap<PoolClient, string | undefined>();

  /**
   * @param database `postgres://` URL
   * @param maxConnections as in SqlGatewayOptions, and so is `sendsCancelRequests`
   */
  constructor(database: string, maxConnections: number, sendsCancelRequests: boolean) {
    this.#sendsCancelRequests = sendsCancelRequests;
    this.#pool = new Pool({
      connectionString: database,
      max: maxConnections,
      idleTimeoutMillis: 0,
      stream: () => this.#newSocket(),
    });
    this.#pool.on('error', () => {}); // an idle connection was lost: the pool opens a new one
    this.#pool.on('connect', (client) => {
      client.on('error', () => {}); // the connection was lost: the statement fails as well
    });
  }

  /**
   * Runs a statement as soon as a connection is free and returns its result as JSON. A connection is reused only after
   * success, as in Neon's proxy.
   *
   * @param options.role the role to run it as; undefined for the user who logged in
   * @param options.signal aborted when the client has disconnected
   * @throws Failure or DatabaseError
   */
  async run(
    statement: Statement,
    { role, ...options }: { role: string | undefined; maxBytes: number; signal: AbortSignal },
  ): Promise<Buffer> {
    const client = await this.#pool.connect().catch((error: unknown) => Promise.reject(connectFailure(error)));
    try {
      if (this.#roles.get(client) !== role) await this.#reset(client, role);
      options.signal.throwIfAborted();
      const result = await resultOf(client, statement, options);
      this.#reset(client, role).then(
        () => client.release(),
        () => client.release(true), // a transaction was left open
      );
      return result;
    } catch (error) {
      if (this.#sendsCancelRequests && !(error instanceof DatabaseError)) await cancel(client);
      client.release(true);
      throw error instanceof DatabaseError || error instanceof Failure ? error : new Failure(400, 'connection closed');
    }
  }

  /** Closes all connections, whatever they are doing. */
  async close(): Promise<void> {
    const ended = this.#pool.end();
    for (const socket of this.#sockets) socket.destroy();
    await ended;
  }

  /** Removes everything that a statement left in the session (settings, temporary tables, locks) and changes the role. */
  async #reset(client: PoolClient, role: string | undefined): Promise<void> {
    await client.query('DISCARD ALL');
    if (role !== undefined) await client.query(BECOME_ROLE, [role]);
    this.#roles.set(client, role);
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.on('close', () => this.#sockets.delete(socket));
  }
}

const CANCEL_TIMEOUT_MS = 1_000;

/**
 * Sends a CancelRequest, since a statement without rows would not notice that its connection is closed, and waits until the server
 * has received it: a connection pooler forwards it only while the client that sent the statement is connected.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
async function cancel(client: PoolClient): Promise<void> {
  // `pg` keeps the connection's key in properties that are missing from its types.
  const { host, port, processID, secretKey } = client as unknown as Client & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) request.writeInt32BE(value, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => {}).setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  socket.resume().write(request); // the server closes the connection; if the client does, PgBouncer may drop the request
  await new Promise((resolve) => socket.once('close', resolve));
}

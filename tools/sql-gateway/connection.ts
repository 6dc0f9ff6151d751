import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client, DatabaseError, escapeLiteral } from 'pg';
import { reasonOf } from '../command.ts';
import { messageSplitter } from './backend-messages.ts';
import { clientGone, Failure, lostConnection, sqlFailure } from './failures.ts';
import { cancelRequest, extendedQuery, readColumns, readErrorFields, simpleQuery, type Column } from './wire.ts';

/** Takes a statement's result as it comes. What it throws ends the statement. */
export interface Receiver {
  columns(columns: Column[]): void;
  /** The body of a DataRow is at `start` in the buffer, which is only valid during the call. */
  row(buffer: Buffer, start: number): void;
  /** @param tag the command tag, such as `INSERT 0 1` */
  complete(tag: string): void;
}

/** Also waits for a suspended database to wake up, or for other users of the embedded one. */
const CONNECT_TIMEOUT_MS = 30_000;

const TYPE = { C: 67, D: 68, E: 69, G: 71, H: 72, T: 84, W: 87, Z: 90 } as const;

interface Running {
  receiver: Receiver | undefined;
  failure: Failure | undefined;
  resolve: () => void;
  reject: (reason: Failure) => void;
}

/**
 * A connection to Postgres. `pg` makes it (start-up, password, TLS); from then on the protocol is spoken here, because `pg`
 * turns every value of every row into a string, which costs more than all the rest, and runs COPY without a word.
 */
export class Connection {
  /** The role that statements run as, undefined for the one who logged in. */
  role: string | undefined;
  readonly #client: Client;
  readonly #stream: Duplex;
  readonly #key: { processID: number; secretKey: number };
  readonly #roleSettings: ReadonlyMap<string, readonly string[]>;
  #queue: Running[] = [];
  #used = false;

  private constructor(
    client: Client,
    key: { processID: number; secretKey: number },
    roleSettings: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#client = client;
    this.#roleSettings = roleSettings;
    this.#stream = client.connection.stream;
    this.#key = key;
    this.#stream.removeAllListeners('data');
    this.#stream.on(
      'data',
      messageSplitter((...message) => this.#take(...message)),
    );
    this.#stream.on('close', () => this.#fail(lostConnection()));
  }

  /**
   * @param url `postgres://` URL
   * @throws Failure as Neon has them: 400 for a database that does not exist, else 500
   */
  static async open(url: string, signal: AbortSignal): Promise<Connection> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => {}); // whoever is waiting for an answer hears of it
    const key = { processID: 0, secretKey: 0 };
    client.connection.on('backendKeyData', (data: typeof key) => Object.assign(key, data));
    const giveUp = () => client.connection.stream.destroy();
    signal.addEventListener('abort', giveUp);
    try {
      if (signal.aborted) throw clientGone();
      await client.connect();
      return new Connection(client, key, await readRoleSettings(client));
    } catch (error) {
      client.connection.stream.destroy();
      throw signal.aborted ? clientGone() : connectFailure(error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  get isOpen(): boolean {
    return !this.#stream.destroyed && this.#stream.writable;
  }

  /** Runs a statement that has neither parameters nor rows. */
  async command(text: string): Promise<void> {
    await this.#send(simpleQuery(text), undefined);
  }

  /**
   * Runs one statement. When `signal` says that the client has gone, or when the receiver throws, the statement is cancelled
   * and the connection given up.
   */
  async query(text: string, parameters: (string | null)[], receiver: Receiver, signal: AbortSignal): Promise<void> {
    const leave = () => this.#giveUp(clientGone());
    signal.addEventListener('abort', leave);
    this.#used = true;
    try {
      if (signal.aborted) throw clientGone();
      await this.#send(extendedQuery(text, parameters), receiver);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /**
   * Forgets what a request has left behind (settings, temporary tables, prepared statements) and takes on a role, with what
   * that has set for when it logs in.
   *
   * @throws Failure when the request has left a transaction open: there is no use for the connection then
   */
  async reset(role: string | undefined): Promise<void> {
    const steps = this.#used || this.role !== undefined ? [this.command('DISCARD ALL')] : [];
    this.role = role;
    this.#used = false;
    if (role !== undefined) {
      // By whoever logged in, who may set more than the role itself; what even that user may not set stays as it is.
      for (const setting of this.#roleSettings.get(role) ?? []) steps.push(this.command(setting).catch(() => {}));
      steps.push(this.command(setRole(role)));
    }
    await Promise.all(steps);
  }

  /** Leaves properly. */
  end(): void {
    this.#stream.end(Buffer.from([0x58, 0, 0, 0, 4]));
  }

  /** Cancels what is running, and leaves. */
  abandon(): void {
    this.#giveUp(lostConnection());
  }

  async #send(bytes: Buffer, receiver: Receiver | undefined): Promise<void> {
    if (!this.isOpen) throw lostConnection();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ receiver, failure: undefined, resolve, reject });
    this.#stream.write(bytes);
    await promise;
  }

  #take(type: number, buffer: Buffer, start: number, end: number): void {
    const running = this.#queue[0];
    if (!running) return; // a notice, or the server's last words before it closes an idle connection
    try {
      if (type === TYPE.D) running.receiver?.row(buffer, start);
      else this.#takeOther(running, type, buffer.subarray(start, end));
    } catch (error) {
      this.#giveUp(error instanceof Failure ? error : new Failure(500, reasonOf(error)));
    }
  }

  #takeOther(running: Running, type: number, body: Buffer): void {
    if (type === TYPE.T) running.receiver?.columns(readColumns(body));
    else if (type === TYPE.C) running.receiver?.complete(body.toString('utf8', 0, body.length - 1));
    else if (type === TYPE.E) running.failure ??= sqlFailure(readErrorFields(body));
    else if (type === TYPE.G || type === TYPE.H || type === TYPE.W) {
      throw new Failure(400, 'unexpected message from server'); // COPY: there is no place for its data
    } else if (type === TYPE.Z) {
      this.#queue.shift();
      if (running.failure) running.reject(running.failure);
      else running.resolve();
    }
  }

  /** The server is told to stop at once: it may compute for long without noticing that nobody listens any more. */
  #giveUp(reason: Failure): void {
    if (this.#queue.length > 0 && this.isOpen) this.#cancel();
    this.#fail(reason);
    this.#stream.destroy();
  }

  #fail(reason: Failure): void {
    const waiting = this.#queue;
    this.#queue = [];
    for (const { failure, reject } of waiting) reject(failure ?? reason);
  }

  #cancel(): void {
    const { host, port } = this.#client;
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.on('error', () => {}); // then the server notices by itself
    socket.end(cancelRequest(this.#key.processID, this.#key.secretKey));
  }
}

/**
 * What roles have set for when they log in (`ALTER ROLE … SET`), as statements by role: Postgres does not apply it at `SET ROLE`.
 * Those for one database stand behind those for all.
 */
async function readRoleSettings(client: Client): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ role: string; name: string; value: string }>(`
    SELECT rolname AS role, split_part(setting, '=', 1) AS name, substr(setting, strpos(setting, '=') + 1) AS value
    FROM pg_db_role_setting JOIN pg_roles ON pg_roles.oid = setrole, unnest(setconfig) setting
    WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY setdatabase`);
  const byRole = Map.groupBy(rows, ({ role }) => role);
  const statementOf = ({ name, value }: { name: string; value: string }) =>
    `SELECT set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, false)`;
  return new Map(Array.from(byRole, ([role, settings]) => [role, settings.map(statementOf)]));
}

function setRole(role: string): string {
  return `SET ROLE "${role.replaceAll('"', '""').replaceAll('\0', '')}"`;
}

function connectFailure(error: unknown): Failure {
  if (!(error instanceof DatabaseError)) return new Failure(500, `error connecting to server: ${reasonOf(error)}`);
  const { message, code = '', severity = 'FATAL', detail, hint } = error;
  const fields = Object.entries({ M: message, C: code, S: severity, D: detail, H: hint });
  const given = fields.filter((field): field is [string, string] => field[1] !== undefined);
  return new Failure(code === '3D000' ? 400 : 500, message, new Map(given));
}

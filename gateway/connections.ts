import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { connectFailure, Failure } from './failure.ts';
import type { Login, Place } from './request.ts';
import { type TakeTurn, turns } from './turns.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** How long to wait for Postgres when it has little to do: to cancel a statement, to reset a session, to close a connection. */
const REPLY_TIMEOUT_MS = 1_000;
/** How long a connection may be idle; and how long it may be used in all, since a new password applies to new logins only. */
const IDLE_MS = 60_000;
const LIFETIME_MS = 10 * 60_000;
/** How long a wrong password waits for its response, and keeps its turn: passwords cannot be guessed fast. */
const WRONG_PASSWORD_MS = 1_000;

/** An open connection. */
interface Session {
  readonly client: Client;
  /** User and password. */
  readonly login: string;
  readonly opened: number;
  timer?: NodeJS.Timeout;
}

/** Connections to one database, a limited number at a time, which give every request a clean session. */
export class Connections {
  readonly place: Place;
  readonly #config: ClientConfig;
  readonly #most: number;
  readonly #takeTurn: TakeTurn;
  /** All that are connected or connecting. */
  readonly #clients = new Set<Client>();
  /** The sessions that no request uses, by when they were last used. */
  #idle: Session[] = [];

  /** @param database `postgres://` URL. @param most connections at a time. @throws Error for a certificate that cannot be read */
  constructor(database: string, most: number) {
    const client = new Client({ connectionString: database }); // never connected: it knows the meaning of the URL
    const { host, port, database: name = '', ssl } = client;
    const { options } = (client as unknown as { connectionParameters: { options?: string } }).connectionParameters;
    this.place = { host, port, database: name };
    const fixed = {
      application_name: 'survey-export-gateway',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    };
    this.#config = { host, port, database: name, ssl, ...(options && { options }), ...fixed };
    this.#most = most;
    this.#takeTurn = turns(most, `all ${most} connections to Postgres`);
  }

  /**
   * Runs `work` in a clean session, in its turn, which lasts until the response has ended: until then it takes memory. A session is used
   * again only after success.
   *
   * @param signal aborted when the response has ended, or its client has disconnected
   * @throws Failure or DatabaseError
   */
  async run<T>(login: Login, signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    const release = await this.#takeTurn(signal);
    const ended = once(signal, 'abort');
    let closed: Promise<void> | undefined;
    try {
      const session = await this.#open(login);
      try {
        signal.throwIfAborted();
        const result = await work(session.client);
        closed = this.#reset(session);
        return result;
      } catch (error) {
        const isPostgres = error instanceof DatabaseError;
        closed = this.#end(session, !isPostgres);
        throw isPostgres || error instanceof Failure ? error : new Failure(400, 'connection closed');
      }
    } finally {
      void Promise.all([closed, ended]).then(release);
    }
  }

  /** Whether Postgres accepts connections. Asks for a login, and does not log in. */
  async isReachable(): Promise<boolean> {
    const asked = new Error('a password is asked for');
    const client = this.#newClient({ user: 'healthz', password: () => Promise.reject(asked) });
    const error = await client.connect().catch((reason: unknown) => reason);
    socketOf(client).destroy();
    return error === undefined || error === asked || connectFailure(error).status === 400;
  }

  /** Closes all connections, whatever they are doing. */
  close(): void {
    for (const client of this.#clients) socketOf(client).destroy();
  }

  /** Takes an idle session of the same login, or opens one. @throws Failure */
  async #open({ user, password }: Login): Promise<Session> {
    const login = `${user}\0${password}`;
    const index = this.#idle.findLastIndex((session) => session.login === login);
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    clearTimeout(idle?.timer);
    if (idle) return idle;
    if (this.#clients.size >= this.#most && this.#idle[0]) await this.#end(this.#idle[0]);
    const client = this.#newClient({ user, password });
    await client.connect().catch(async (error: unknown) => {
      socketOf(client).destroy();
      const failure = connectFailure(error);
      if (failure.status === 400) await sleep(WRONG_PASSWORD_MS);
      throw failure;
    });
    return { client, login, opened: Date.now() };
  }

  #newClient(login: Pick<ClientConfig, 'user' | 'password'>): Client {
    const client = new Client({ ...this.#config, ...login });
    this.#clients.add(client);
    client.on('error', () => {}); // the connection was lost: what runs on it fails too
    client.on('end', () => {
      this.#clients.delete(client);
      this.#idle = this.#idle.filter((session) => session.client !== client);
    });
    return client;
  }

  /** Removes everything that a request left in the session (settings, temporary tables, locks), so that another can use it. */
  async #reset(session: Session): Promise<void> {
    const isOld = Date.now() - session.opened > LIFETIME_MS;
    const reset = session.client.query('DISCARD ALL').catch(() => undefined); // fails if a transaction was left open
    if (isOld || !(await withinReplyTime(reset))) return this.#end(session);
    session.timer = setTimeout(() => void this.#end(session), IDLE_MS).unref();
    this.#idle.push(session);
  }

  /** @param cancels whether a statement may be running */
  async #end({ client, timer }: Session, cancels = false): Promise<void> {
    clearTimeout(timer);
    this.#idle = this.#idle.filter((session) => session.client !== client);
    if (cancels) await cancel(client);
    await withinReplyTime(client.end());
    socketOf(client).destroy();
  }
}

const withinReplyTime = <T>(reply: Promise<T>) =>
  Promise.race([reply, sleep(REPLY_TIMEOUT_MS, undefined, { ref: false })]);

/** The socket of a connection, which is missing from the types of `pg`. */
export const socketOf = (client: Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/**
 * Sends a CancelRequest, since a statement without rows would not notice that its connection is closed, and waits until the server
 * has received it: a connection pooler forwards it only while the client that sent the statement is connected. It is sent without TLS,
 * which Postgres accepts.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
async function cancel(client: Client): Promise<void> {
  // `pg` keeps the connection's key in properties that are missing from its types.
  const { host, port, processID, secretKey } = client as Client & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) request.writeInt32BE(value, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => {}).setTimeout(REPLY_TIMEOUT_MS, () => socket.destroy());
  socket.resume().write(request); // the server closes the connection; if the client does, PgBouncer may drop the request
  await new Promise((resolve) => socket.once('close', resolve));
}

import { connect } from 'node:net';
import { unescape } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { connectFailure, Failure } from './failure.ts';
import type { Login, Place } from './request.ts';
import { type TakeTurn, turns } from './turns.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/**
 * How long to wait for Postgres when it has little to do: to cancel a statement, to reset a
 * session, to close a connection.
 */
const REPLY_TIMEOUT_MS = 1_000;
/**
 * How long a connection may be idle; and how long it may be used in all, since a new password
 * applies to new logins only.
 */
const IDLE_MS = 60_000;
const LIFETIME_MS = 10 * 60_000;
/**
 * How long a wrong password waits for its response, and keeps its turn: passwords cannot be guessed
 * fast.
 */
const WRONG_PASSWORD_MS = 1_000;

/** A connection, open or not. The declared properties are missing from the types of `pg`. */
class Session extends Client {
  declare readonly connectionParameters: { readonly options?: string };
  declare readonly processID: number;
  declare readonly secretKey: number;
  readonly created = Date.now();
  timer?: NodeJS.Timeout;
}

/**
 * Connections to one database, a limited number at a time, whose sessions are reset between
 * requests.
 */
export class Connections {
  readonly place: Place;
  readonly #config: ClientConfig;
  readonly #most: number;
  readonly #takeTurn: TakeTurn;
  /** All that are connected or connecting. */
  readonly #sessions = new Set<Session>();
  /** Those that no request uses, by when they were last used. */
  readonly #idle = new Set<Session>();

  /**
   * @param url `postgres://` URL. @param most connections at a time. @throws Error for a
   * certificate that cannot be read
   */
  constructor(url: string, most: number) {
    // never connected: it knows the meaning of the URL
    const parsed = new Session({ connectionString: url });
    const { host, port, ssl, connectionParameters } = parsed;
    // as {@link loginOf} reads it: `pg` would leave %2F
    const database = unescape(URL.parse(url)?.pathname.slice(1) ?? '') || parsed.database;
    this.place = { host, port, database };
    this.#config = {
      ...this.place,
      ssl,
      options: connectionParameters.options,
      application_name: 'survey-export-gateway',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    };

    this.#most = most;
    this.#takeTurn = turns(most, `all ${most} connections to Postgres`);
  }

  /**
   * Runs `work` in a session, in its turn, which lasts until the response has ended: until
   * then it takes memory. A session is used again only after success.
   *
   * @param signal aborted when the response has ended, or its client has disconnected
   * @throws Failure or DatabaseError
   */
  async run<T>(
    login: Login,
    signal: AbortSignal,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const closed = Promise.withResolvers<void>();
    try {
      await this.#takeTurn(signal, 1, closed.promise);
      const session = await this.#open(login);
      try {
        signal.throwIfAborted();
        const result = await work(session);
        closed.resolve(this.#reset(session));
        return result;
      } catch (error) {
        const isPostgres = error instanceof DatabaseError;
        closed.resolve(this.#end(session, !isPostgres));
        throw isPostgres || error instanceof Failure
          ? error
          : new Failure(400, 'connection closed');
      }
    } finally {
      closed.resolve();
    }
  }

  /** Whether Postgres accepts connections. Asks for a login, and does not log in. */
  async isReachable(): Promise<boolean> {
    const asked = new Error('a password is asked for');
    const session = this.#newSession({ user: 'healthz', password: () => Promise.reject(asked) });
    const error = await session.connect().catch((reason: unknown) => reason);
    session.connection.stream.destroy();
    return error === undefined || error === asked || connectFailure(error).status === 400;
  }

  /** Closes all connections, whatever they are doing. */
  close(): void {
    for (const session of this.#sessions) session.connection.stream.destroy();
  }

  /** Takes an idle session of the same login, or opens one. @throws Failure */
  async #open({ user, password }: Login): Promise<Session> {
    const idle = [...this.#idle].findLast(
      (other) => other.user === user && other.password === password,
    );

    if (idle) {
      clearTimeout(idle.timer);
      this.#idle.delete(idle);
      return idle;
    }

    const [oldest] = this.#idle;
    if (oldest && this.#sessions.size >= this.#most) await this.#end(oldest);
    const session = this.#newSession({ user, password });
    await session.connect().catch(async (error: unknown) => {
      session.connection.stream.destroy();
      const failure = connectFailure(error);
      if (failure.status === 400) await sleep(WRONG_PASSWORD_MS);
      throw failure;
    });

    return session;
  }

  #newSession(login: Pick<ClientConfig, 'user' | 'password'>): Session {
    const session = new Session({ ...this.#config, ...login });
    this.#sessions.add(session);
    session.on('error', () => {}); // the connection was lost: what runs on it fails too
    session.on('end', () => {
      this.#sessions.delete(session);
      this.#idle.delete(session);
    });

    return session;
  }

  /**
   * Runs DISCARD ALL, so that another request can use the session: it resets settings, and removes
   * temporary tables, locks, prepared statements and the like. The seed of `random()` remains, and
   * so do the names of custom settings, without their values.
   * https://www.postgresql.org/docs/current/sql-discard.html
   */
  async #reset(session: Session): Promise<void> {
    const isOld = Date.now() - session.created > LIFETIME_MS;
    // fails if a transaction was left open
    const reset = session.query('DISCARD ALL').catch(() => {});
    if (isOld || !(await withinReplyTime(reset))) return this.#end(session);
    session.timer = setTimeout(() => void this.#end(session), IDLE_MS).unref();
    this.#idle.add(session);
  }

  /** @param cancels whether a statement may be running */
  async #end(session: Session, cancels = false): Promise<void> {
    clearTimeout(session.timer);
    this.#idle.delete(session);
    if (cancels) await cancel(session);
    await withinReplyTime(session.end());
    session.connection.stream.destroy();
  }
}

const withinReplyTime = <T>(reply: Promise<T>) =>
  Promise.race([reply, sleep(REPLY_TIMEOUT_MS, null, { ref: false })]);

/**
 * Sends a CancelRequest, since a statement without rows would not notice that its connection is
 * closed, and waits until the server has received it: a connection pooler forwards it only while
 * the client that sent the statement is connected. It is sent without TLS, which Postgres accepts.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
async function cancel({ host, port, processID, secretKey }: Session): Promise<void> {
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries())
    request.writeInt32BE(value, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => {}).setTimeout(REPLY_TIMEOUT_MS, () => socket.destroy());
  // the server closes the connection; if the client does, PgBouncer may drop the request
  socket.resume().write(request);
  await new Promise((resolve) => socket.once('close', resolve));
}

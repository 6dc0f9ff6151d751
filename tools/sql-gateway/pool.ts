import { Connection } from './connection.ts';
import { clientGone, lostConnection, type Failure } from './failures.ts';

/** Connections to one database, at most `limit` at a time. */
export class Pool {
  readonly #url: string;
  readonly #limit: number;
  #idle: { connection: Connection; ready: Promise<void> }[] = [];
  readonly #busy = new Set<Connection>();
  readonly #waiting: { enter: () => void; refuse: (reason: Failure) => void }[] = [];
  #taken = 0;
  readonly #closing = new AbortController();

  constructor(url: string, limit: number) {
    this.#url = url;
    this.#limit = limit;
  }

  /**
   * Lends a connection to `work`, waiting until there is one. It runs statements as `role` (undefined: as the user who logs
   * in), and starts with a clean session.
   */
  async use<T>(
    role: string | undefined,
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    await this.#enter(either);
    try {
      const connection = await this.#take(role, either);
      this.#busy.add(connection);
      try {
        return await work(connection);
      } finally {
        this.#busy.delete(connection);
        this.#giveBack(connection, role);
      }
    } finally {
      this.#leave();
    }
  }

  /** Ends all connections; what they are running is cancelled. */
  close(): void {
    this.#closing.abort();
    for (const { refuse } of this.#waiting.splice(0)) refuse(lostConnection());
    for (const connection of this.#busy) connection.abandon();
    for (const { connection } of this.#idle) connection.end();
    this.#idle = [];
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw clientGone();
    if (this.#taken < this.#limit) {
      this.#taken++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const place = { enter: resolve, refuse: reject };
    this.#waiting.push(place);
    const giveUp = () => {
      const index = this.#waiting.indexOf(place);
      if (index >= 0) this.#waiting.splice(index, 1);
      reject(clientGone());
    };
    signal.addEventListener('abort', giveUp);
    await promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#taken--;
  }

  async #take(role: string | undefined, signal: AbortSignal): Promise<Connection> {
    for (;;) {
      const same = this.#idle.findIndex(({ connection }) => connection.role === role);
      const [idle] = same >= 0 ? this.#idle.splice(same, 1) : this.#idle.splice(0, 1);
      const connection = idle?.connection ?? (await Connection.open(this.#url, signal));
      try {
        await idle?.ready;
        if (connection.role !== role) await connection.reset(role);
        if (connection.isOpen) return connection;
      } catch (error) {
        connection.end();
        if (!idle) throw error;
      }
    }
  }

  /**
   * The embedded database serves one connection at a time: where the limit is 1, others get their turn after every request.
   */
  #giveBack(connection: Connection, role: string | undefined): void {
    if (!connection.isOpen) return;
    if (this.#limit === 1 || this.#closing.signal.aborted) {
      connection.end();
      return;
    }
    const ready = connection.reset(role);
    ready.catch(() => connection.end());
    this.#idle.push({ connection, ready });
  }
}

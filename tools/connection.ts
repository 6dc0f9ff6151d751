import { Client, type DatabaseError } from 'pg';
import { UserError } from './command.ts';

/** Runs `work` on a new connection. */
export async function withConnection<T>(
  url: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: url });
  // a lost connection fails the running query; unhandled, it would end the process first
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** How long a statement waits for a lock, in seconds. */
const LOCK_SECONDS = 5;

/**
 * Runs `work` on a new connection, whose statements wait at most 5 s for a lock.
 *
 * @throws UserError after that
 */
export async function withLockTimeout<T>(
  url: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return withConnection(url, (client) => limitLockWaits(client, () => work(client)));
}

/**
 * Runs `work` as {@link withLockTimeout} does, on a connection that is open. It keeps the
 * `lock_timeout`.
 */
export async function limitLockWaits<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query(`set lock_timeout to '${LOCK_SECONDS}s'`);
  return work().catch((cause: unknown) => {
    if (!isLockTimeout(cause)) throw cause;
    throw new UserError(
      `Blocked for ${LOCK_SECONDS} s by a lock of another session: try again when it has ended. "select * from pg_stat_activity" lists the sessions.`,
      { cause },
    );
  });
}

/** Whether an error, or its cause, is the server's `lock_not_available`. */
function isLockTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    ((error as DatabaseError).code === '55P03' || isLockTimeout(error.cause))
  );
}

/**
 * Runs `work` in one transaction, which sees what others have committed: on any error the database
 * is as it was before.
 */
export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin isolation level read committed'); // whatever the database's default
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // without a connection, the server has rolled back already
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/**
 * Runs `work` in one transaction on a new connection: {@link withLockTimeout},
 * {@link inTransaction}.
 */
export async function withTransaction<T>(
  url: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return withLockTimeout(url, (client) => inTransaction(client, () => work(client)));
}

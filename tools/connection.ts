import { Client, type DatabaseError } from 'pg';
import { UserError } from './command.ts';
import { isoTime } from './keys/times.ts';

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

/**
 * How long a statement waits for a lock, and how often the sessions that hold it are looked up;
 * milliseconds.
 */
const LOCK_TIMEOUT_MS = 5_000;
const LOOKUP_MS = 2_000;

/**
 * Runs `work` on a new connection, whose statements wait at most 5 s for a lock.
 *
 * @throws UserError that names the sessions that hold the lock
 */
export async function withLockTimeout<T>(
  url: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return withConnection(url, (client) => limitLockWaits(url, client, () => work(client)));
}

/**
 * Runs `work` as {@link withLockTimeout} does, on a connection that is open. It keeps the
 * `lock_timeout`.
 */
export async function limitLockWaits<T>(
  url: string,
  client: Client,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await client.query<{ pid: number }>(
    `select pg_backend_pid() as pid, set_config('lock_timeout', $1, false)`,
    [String(LOCK_TIMEOUT_MS)],
  );

  let blockers = 'another session: try again when it has ended';
  // Another connection looks them up, because Postgres knows them only while this one waits.
  const lookup = setInterval(() => {
    void findBlockers(url, rows[0]?.pid).then(
      (found) => (blockers = found ?? blockers),
      () => {},
    );
  }, LOOKUP_MS);
  try {
    return await work();
  } catch (cause) {
    if (!isLockTimeout(cause)) throw cause;
    throw new UserError(`Blocked for ${LOCK_TIMEOUT_MS / 1000} s by a lock of ${blockers}.`, {
      cause,
    });
  } finally {
    clearInterval(lookup);
  }
}

/**
 * The sessions that a process waits for, and what ends them, in words; undefined if there is none.
 */
async function findBlockers(url: string, pid: number | undefined): Promise<string | undefined> {
  // The time is when its transaction began, or else when it became idle: null, and left out, if the
  // user may not see it.
  const select = `
    select format('%s: try again when it has ended, or end it with "select %s"',
      string_agg(format('process %s (role %s%s)', pid, role, ', since ' || since), ' and ' order by pid),
      string_agg(format('pg_terminate_backend(%s)', pid), ', ' order by pid)) as found
    from (
      select pid, usename as role, ${isoTime('coalesce(xact_start, state_change)')} as since
      from pg_stat_activity where pid = any(pg_blocking_pids($1))
    ) as session having count(*) > 0`;
  return withConnection(
    url,
    async (client) => (await client.query<{ found: string }>(select, [pid])).rows[0]?.found,
  );
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

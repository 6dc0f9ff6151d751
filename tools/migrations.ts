import { readdir, readFile } from 'node:fs/promises';
import { type Client, DatabaseError } from 'pg';
import { messageOf, UserError } from './command.ts';
import { withTransaction } from './connection.ts';

const folder = new URL('../src/db/migrations/', import.meta.url);

/** An arbitrary number that no other program should use: "SRES" in ASCII. */
export const ADVISORY_LOCK = 0x53524553;

/**
 * Applies the pending migrations, all in one transaction. Concurrent runs wait for each other.
 *
 * @param url `postgres://` URL of a user who can create tables and roles
 * @returns the names of the migrations applied, in order
 * @throws UserError that names a session that holds a lock for too long
 * @throws Error that names the failed migration, with the database's error as its cause
 */
export async function migrate(url: string): Promise<string[]> {
  return withTransaction(url, applyMigrations);
}

/**
 * Applies the pending migrations in the order of their numbers, as {@link migrate} does, but in the
 * caller's transaction: a command that fails to store something leaves the schema as it was, too.
 *
 * @param client in a transaction that waits for a lock for a limited time
 */
export async function applyMigrations(client: Client): Promise<string[]> {
  // Every role can take the advisory lock, which therefore must not block commands that have
  // nothing to migrate.
  if ((await pendingMigrations(client)).length === 0) return [];
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  await client.query(
    `create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())`,
  );

  const pending = await pendingMigrations(client);
  for (const name of pending) await apply(client, name);
  return pending;
}

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DUPLICATE_TABLE = '42P07';

/**
 * Compares the database's migrations with those of this version. Writes nothing.
 *
 * @returns names, in order: of those that are not applied yet, and of those that a newer version of
 * this service has applied
 */
export async function findMigrations(
  client: Client,
): Promise<{ pending: string[]; unknown: string[] }> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  const { rows: tables } = await client.query(
    `select where to_regclass('schema_migrations') is not null`,
  );

  if (tables.length === 0) return { pending: names, unknown: [] };
  const { rows } = await client.query<{ name: string }>(
    'select name from schema_migrations order by name',
  );

  const applied = rows.map(({ name }) => name);
  return {
    pending: names.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !names.includes(name)),
  };
}

/**
 * Finds the migrations that are not applied yet.
 *
 * @throws UserError if a newer version has applied others: what this one writes could have too few
 * limits
 */
async function pendingMigrations(client: Client): Promise<string[]> {
  const { pending, unknown } = await findMigrations(client);
  if (unknown.length === 0) return pending;
  throw new UserError(
    `The database has migrations of a newer version of this service (${unknown.join(', ')}): use that version, or a newer one.`,
  );
}

/**
 * @throws UserError unless all migrations of this version have been applied, which names
 * db:migrate, and no others
 */
export async function checkMigrated(client: Client): Promise<void> {
  const [first] = await pendingMigrations(client);
  if (first !== undefined)
    throw new UserError(
      `The database lacks migrations, from ${first} on: run "npm run db:migrate" first.`,
    );
}

async function apply(client: Client, name: string): Promise<void> {
  try {
    await client.query(await readFile(new URL(name, folder), 'utf8'));
    await client.query('insert into schema_migrations (name) values ($1)', [name]);
  } catch (cause) {
    const advice =
      cause instanceof DatabaseError && cause.code === DUPLICATE_TABLE
        ? `. If the tables are the platform's, follow "The platform's own database" in docs/deploy.md`
        : '';
    throw new Error(`migration ${name} failed: ${messageOf(cause)}${advice}`, { cause });
  }
}

import { readdir, readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { inTransaction, withLockTimeout } from './connection.ts';

const folder = new URL('../src/db/migrations/', import.meta.url);

/** An arbitrary number that no other program should use: "SRES" in ASCII. */
const ADVISORY_LOCK = 0x53524553;

/**
 * Applies the pending migrations in the order of their numbers, all in one transaction. Concurrent runs wait for each other.
 *
 * @param url `postgres://` URL of a user who can create tables and roles
 * @returns the names of the migrations applied, in order
 * @throws UserError that names a session that holds a lock for too long
 * @throws Error that names the failed migration, with the database's error as its cause
 */
export async function migrate(url: string): Promise<string[]> {
  return withLockTimeout(url, async (client) => {
    // Every role can take the advisory lock, which therefore must not block commands that have nothing to migrate.
    if ((await pendingMigrations(client)).length === 0) return [];
    return inTransaction(client, async () => {
      await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
      await client.query(
        `create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())`,
      );
      const pending = await pendingMigrations(client);
      for (const name of pending) await apply(client, name);
      return pending;
    });
  });
}

/** @returns the names of the migrations that have not been applied, in order */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  const { rows: tables } = await client.query(`select where to_regclass('schema_migrations') is not null`);
  if (tables.length === 0) return names;
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
  const applied = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !applied.has(name));
}

async function apply(client: Client, name: string): Promise<void> {
  try {
    await client.query(await readFile(new URL(name, folder), 'utf8'));
    await client.query('insert into schema_migrations (name) values ($1)', [name]);
  } catch (cause) {
    throw new Error(`migration ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';

const folder = new URL('../src/db/migrations/', import.meta.url);

/** An arbitrary number that no other program should use: "SRES" in ASCII. */
const ADVISORY_LOCK = 0x53524553;

/**
 * Applies the pending migrations in the order of their numbers, all in one transaction. Concurrent runs wait for each other.
 *
 * @param url `postgres://` URL of a user who can create tables and roles
 * @returns the names of the migrations applied, in order
 * @throws Error that names the failed migration, with the database's error as its cause
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await client.query(
      `create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())`,
    );
    const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
    const done = new Set(rows.map((row) => row.name));
    const pending = (await migrationNames()).filter((name) => !done.has(name));
    for (const name of pending) await apply(client, name);
    await client.query('commit');
    return pending;
  } finally {
    await client.end();
  }
}

/** @returns the names of the files in src/db/migrations, in order */
export async function migrationNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => file.endsWith('.sql')).toSorted();
}

async function apply(client: Client, name: string): Promise<void> {
  try {
    await client.query(await readFile(new URL(name, folder), 'utf8'));
    await client.query('insert into schema_migrations (name) values ($1)', [name]);
  } catch (cause) {
    throw new Error(`migration ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

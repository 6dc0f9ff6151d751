import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';

const folder = new URL('../src/db/migrations/', import.meta.url);

/** Any number will do, as long as no other program takes the same: the letters "SRES" in ASCII. */
const ADVISORY_LOCK = 0x53524553;

/**
 * Applies the migrations that the database does not have yet, in the order of their numbers, all in one transaction: on
 * an error the database is as it was before. Two runs at once wait for one another.
 *
 * @param url `postgres://` URL of a user who may create tables and roles
 * @returns the names of the migrations applied, in order; empty when there was nothing to do
 * @throws Error naming the migration that failed, with the database's error as its cause
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

/** @returns the files in src/db/migrations, in the order in which they are applied */
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

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { inTransaction } from '../connection.ts';
import { findMigrations } from '../migrations.ts';

const MIGRATIONS = new URL('../../src/db/migrations/', import.meta.url);
/** The name of the role in the migrations. */
const ROLE = 'survey_export_worker';
const SCHEMA = 'schema public';

/** A schema and a role of the same random name. */
export interface Sandbox {
  readonly name: string;
  /** The password of the role. */
  readonly password: string;
}

/** @param password of the role; random unless given */
export function newSandbox(password = randomBytes(24).toString('base64url')): Sandbox {
  return { name: `verify_${randomBytes(4).toString('hex')}`, password };
}

/** What the checks of the protocol read and write. */
export const createTables = (schema: string) => `
  create table ${schema}.notes (id integer primary key, body text);
  insert into ${schema}.notes values (1, 'one'), (2, null);
  create table ${schema}.log (line text);`;

/** Creates the schema, with tables for the checks of the protocol. */
export async function createSchema(owner: Client, { name }: Sandbox): Promise<void> {
  await owner.query(`create schema ${name}; ${createTables(name)}`);
}

/**
 * Applies the migrations in the schema, for the role.
 *
 * @returns their names
 * @throws Error that names the failed one
 */
export async function migrateSandbox(owner: Client, { name }: Sandbox): Promise<string[]> {
  return inTransaction(owner, async () => {
    await owner.query(`set local search_path = ${name}`);
    const { pending: files } = await findMigrations(owner);
    for (const file of files) {
      const text = await readFile(new URL(file, MIGRATIONS), 'utf8');
      const query = text.replaceAll(ROLE, name).replaceAll(SCHEMA, `schema ${name}`);
      await owner.query(query).catch((cause: unknown) => {
        throw new Error(`${file}: ${(cause as Error).message}`, { cause });
      });
    }
    return files;
  });
}

/** Gives the role its password and its schema. Creates it if the migrations could not. */
export async function prepareRole(owner: Client, { name, password }: Sandbox): Promise<void> {
  const { rows } = await owner.query('select from pg_roles where rolname = $1', [name]);
  await owner.query(`${rows.length > 0 ? 'alter' : 'create'} role ${name} login password '${password}'`);
  if (rows.length === 0) await owner.query(`alter role ${name} set enable_bitmapscan = off`);
  await owner.query(`alter role ${name} set search_path = ${name}`);
  await owner.query(`grant usage on schema ${name} to ${name}; grant select on ${name}.notes to ${name}`);
}

/** What {@link removeSandbox} runs, for an operator whose run was killed. */
export const removalOf = ({ name }: Sandbox) => `drop schema if exists ${name} cascade; drop role if exists ${name}`;

export async function removeSandbox(owner: Client, sandbox: Sandbox): Promise<void> {
  await owner.query(removalOf(sandbox));
}

import { setTimeout } from 'node:timers';
import { Client } from 'pg';
import { reasonOf, UserError } from './command.ts';
import { openEmbeddedDatabase } from './embedded-database.ts';

/** The database that a command works on, with the right to create things in it. */
export interface Database {
  /** `postgres://` URL, with the password. Of an embedded database: one connection is served at a time, others wait. */
  readonly url: string;
  readonly kind: 'postgres' | 'embedded';
  /** Whether another command runs it, and ends it when it is done. */
  readonly isBorrowed: boolean;
  /** What to call it in front of people: has no password in it. */
  readonly description: string;
  /** Leaves the database at once. An embedded one that this process runs breaks off what other processes do with it. */
  closeNow(): Promise<void>;
  /** Leaves the database. An embedded one that this process runs goes on until no other process is using it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Long enough for a suspended database to wake up. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Opens the database that the environment names: the Postgres at `DATABASE_URL`, or else the embedded one in `DATA_DIR`
 * (`.data` by default, relative to the current directory), which is started if no other process is running it.
 *
 * @param signal gives up opening the embedded one
 * @throws UserError when `DATABASE_URL` is no Postgres URL or nothing answers there, or when the embedded one cannot be opened
 */
export async function openDatabase(env: NodeJS.ProcessEnv = process.env, signal?: AbortSignal): Promise<Database> {
  const url = env['DATABASE_URL'];
  if (url) return openPostgres(url);
  const dataDir = env['DATA_DIR'] || '.data';
  const embedded = await openEmbeddedDatabase(dataDir, signal);
  return {
    url: embedded.url,
    kind: 'embedded',
    isBorrowed: embedded.isBorrowed,
    description: `embedded Postgres in ${dataDir}`,
    closeNow: () => embedded.close('now'),
    [Symbol.asyncDispose]: () =>
      saying('Waiting for the other commands that use the embedded database …', embedded.close('when unused')),
  };
}

async function openPostgres(url: string): Promise<Database> {
  const { host, pathname } = URL.parse(url) ?? {};
  if (!/^postgres(ql)?:\/\//.test(url) || host === undefined || pathname === undefined) {
    throw new UserError('DATABASE_URL is not a Postgres URL: expected postgres://user:password@host/database');
  }
  const description = `Postgres ${host}${pathname}`;
  try {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    await client.connect();
    await client.end();
  } catch (cause) {
    throw new UserError(`Cannot connect to ${description} (DATABASE_URL): ${reasonOf(cause)}`, { cause });
  }
  return {
    url,
    kind: 'postgres',
    isBorrowed: false,
    description,
    closeNow: nothingToClose,
    [Symbol.asyncDispose]: nothingToClose,
  };
}

async function nothingToClose(): Promise<void> {}

/** Tells on stderr what is going on when `work` takes longer than a moment. */
async function saying(text: string, work: Promise<void>): Promise<void> {
  const timer = setTimeout(() => process.stderr.write(`${text}\n`), 1000);
  await work.finally(() => clearTimeout(timer));
}

import { Socket } from 'node:net';
import { Client } from 'pg';
import { reasonOf, UserError } from './command.ts';
import { openEmbedded, type Role } from './postgres/embedded.ts';

/** The database that a command uses, as a user who may create tables. Disposing of it stops a server that it started. */
export interface Database extends AsyncDisposable {
  /** `postgres://` URL, with the password. */
  readonly url: string;
  readonly kind: 'postgres' | 'embedded';
  /** Its name in messages, without the password. */
  readonly description: string;
  /** Rejects when an embedded server that this process started has ended unexpectedly; otherwise pending. */
  readonly ended: Promise<never>;
}

/** Long enough for a suspended database to wake up. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Opens the database that the environment names: the Postgres at `DATABASE_URL`, or else the embedded one in `DATA_DIR`
 * (`.data` by default, relative to the current directory), whose server is started if it is not running.
 *
 * @param signal cancels opening it
 * @throws UserError if `DATABASE_URL` is not a Postgres URL, or if the database cannot be connected to or opened
 */
export async function openDatabase(
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
  role: Role = 'command',
): Promise<Database> {
  const url = env['DATABASE_URL'];
  if (url) return openPostgres(url, signal);
  const dataDir = env['DATA_DIR'] || '.data';
  const embedded = await openEmbedded(dataDir, { role, signal });
  return { ...embedded, kind: 'embedded', description: `embedded Postgres in ${dataDir}` };
}

async function openPostgres(url: string, signal: AbortSignal | undefined): Promise<Database> {
  const { host, pathname } = URL.parse(url) ?? {};
  if (!/^postgres(ql)?:\/\//.test(url) || host === undefined || pathname === undefined) {
    throw new UserError('DATABASE_URL is not a Postgres URL: expected postgres://user:password@host/database');
  }
  const description = `Postgres ${host}${pathname}`;
  try {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      stream: () => new Socket({ signal }),
    });
    await client.connect();
    await client.end();
  } catch (cause) {
    throw new UserError(`Cannot connect to ${description} (DATABASE_URL): ${reasonOf(cause)}`, { cause });
  }
  return { url, kind: 'postgres', description, ended: new Promise(() => {}), [Symbol.asyncDispose]: async () => {} };
}

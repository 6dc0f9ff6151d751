import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { Client } from 'pg';
import { messageOf, note, UserError } from './command.ts';
import { withConnection } from './connection.ts';
import { checkMigrated } from './migrations.ts';
import { directHost } from './neon-host.ts';
import { embeddedName, findServer } from './postgres/embedded.ts';
import { WORKER_ROLE } from './worker-role.ts';

/** The database that a command uses, as a user who may create tables. */
export interface Database {
  /** `postgres://` URL, with the password. */
  readonly url: string;
  /** Its name in messages, without the password. */
  readonly description: string;
}

/** Long enough for a suspended database to wake up. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Opens the database that the environment names: the Postgres at `DATABASE_URL`, or else that of
 * the `npm start` that is running on `DATA_DIR` (`.data` by default, relative to the current
 * directory).
 *
 * @param signal cancels connecting to `DATABASE_URL`
 * @throws UserError if there is none, or it cannot be connected to
 */
export async function openDatabase(
  env: NodeJS.ProcessEnv = process.env,
  signal?: AbortSignal,
): Promise<Database> {
  const url = env['DATABASE_URL'];
  if (url) return openPostgres(url, signal);
  const dataDir = env['DATA_DIR'] || '.data';
  const server = await findServer(dataDir);
  if (!server)
    throw new UserError(
      `There is no database to use: set DATABASE_URL, or let "npm start" (or "npm run dev") run on the DATA_DIR ${resolve(dataDir)} meanwhile.`,
    );
  return { url: server.url, description: embeddedName(dataDir) };
}

/**
 * Opens the database for a command that runs on it, and names it on stderr, since stdout may be
 * piped.
 *
 * @param options.needsMigrations whether the command works only on a database that is migrated
 * @throws UserError that names the command which starts or migrates the database
 */
export async function openForCommand({
  env = process.env,
  needsMigrations = true,
}: { env?: NodeJS.ProcessEnv; needsMigrations?: boolean } = {}): Promise<Database> {
  const database = await openDatabase(env);
  const why = env['DATABASE_URL'] ? '' : ', because DATABASE_URL is not set';
  note(`Database: ${database.description}${why}`);
  if (needsMigrations) await withConnection(database.url, checkMigrated);
  return database;
}

async function openPostgres(text: string, signal: AbortSignal | undefined): Promise<Database> {
  const { href: url, host, pathname } = postgresUrl(text);
  const client = newClient(url, signal);
  const description = `Postgres ${host || client.host}${pathname.length > 1 ? pathname : `/${client.database ?? ''}`}`;
  if (client.user === WORKER_ROLE)
    throw new UserError(`DATABASE_URL: ${WORKER_ROLE} is the Worker's role; use the owner's URL`);
  try {
    await client.connect().catch((cause: unknown) => {
      throw new UserError(`Cannot connect to ${description} (DATABASE_URL): ${explained(cause)}`, {
        cause,
      });
    });

    await checkVersion(client);
  } finally {
    await client.end(); // even if it could not log in: its socket would keep the process running
  }

  return { url, description };
}

/**
 * @throws UserError for a parameter of the URL that cannot be used, such as the path of a
 * certificate
 */
function newClient(url: string, signal: AbortSignal | undefined): Client {
  try {
    return new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      stream: () => new Socket({ signal }),
    });
  } catch (cause) {
    throw new UserError(`DATABASE_URL: ${messageOf(cause)}`, { cause });
  }
}

/** What to do about a connection that failed, by the code of Node.js or of Postgres. */
const ADVICE: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'check the host, and the network',
  ECONNREFUSED: 'check the host and the port, and that the server runs',
  EINVAL: 'check the host',
  ENOENT: 'check the host, which names a socket, and that the server runs',
  ENOTFOUND: 'check the host',
  '28000': 'check the user, and whom pg_hba.conf lets in', // invalid_authorization_specification
  '28P01': 'check the user and the password', // invalid_password, also for an unknown user
  '3D000': 'create it, or check its name', // invalid_catalog_name
};

function explained(error: unknown): string {
  const reason = messageOf(error);
  if (reason.includes('client password must be'))
    return 'the server requires a password, and the URL has none';
  if (reason === 'timeout expired')
    return `no response within ${CONNECT_TIMEOUT_MS / 1000} s: check the host and the port, and firewalls on the way`;
  if (/self-signed|unable to (?:get|verify)/.test(reason))
    return `${reason}; if its authority is your own, add sslrootcert=<file> to the URL`;
  const advice = ADVICE[(error as { code?: string }).code ?? ''];
  return advice === undefined ? reason : `${reason}; ${advice}`;
}

/**
 * The oldest major version of Postgres with everything that the service uses, as the server numbers
 * it.
 */
const OLDEST_VERSION = 150_000;

/** @throws UserError unless the server is new enough */
async function checkVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string }>(
    `select current_setting('server_version_num') as number, version() as name`,
  );

  const { number = '', name = '' } = rows[0] ?? {};
  if (Number(number) >= OLDEST_VERSION) return;
  // Followed by a distribution's version in brackets, or by the platform.
  const [server = ''] = name.split(/ \(| on /);
  const problem = server.startsWith('PostgreSQL') ? 'is too old:' : 'is not PostgreSQL: PostgreSQL';
  throw new UserError(
    `${server} ${problem} ${OLDEST_VERSION / 10_000} or newer is required (DATABASE_URL)`,
  );
}

/** Modes that `pg` treats as `verify-full`, with a warning of nine lines. */
const ALIASES = new Set(['prefer', 'require', 'verify-ca']);

/**
 * The URL to connect to for a DATABASE_URL, with a host that has sessions, and without modes that
 * `pg` warns about.
 *
 * @throws UserError, without the password
 */
export function postgresUrl(text: string): URL {
  const url = URL.parse(text);
  const withoutPort =
    url ?? URL.parse(text.replace(/^(\w+:\/\/(?:[^/?#]*@)?[^/?#:@]*):[^/?#@]*/, '$1'));
  if (withoutPort === null || !/^postgres(ql)?:\/\//.test(withoutPort.href))
    throw new UserError(
      'DATABASE_URL is not a Postgres URL: expected postgres://user:password@host/database, without quotes around it',
    );
  // A / ? or # in the password ends the host, so that the @ is in a later part of the URL.
  if (`${withoutPort.pathname}${withoutPort.search}${withoutPort.hash}`.includes('@'))
    throw new UserError(
      'DATABASE_URL: special characters in the user name or password must be escaped: / as %2F, # as %23, ? as %3F, @ as %40, % as %25',
    );
  if (url === null) throw new UserError('DATABASE_URL: the port must be a number from 1 to 65535');
  url.hostname = directHost(url.hostname);
  if (ALIASES.has(url.searchParams.get('sslmode') ?? '') && !url.searchParams.has('uselibpqcompat'))
    url.searchParams.set('sslmode', 'verify-full');
  return url;
}

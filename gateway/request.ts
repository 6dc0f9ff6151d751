import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Failure } from './failure.ts';
import type { Semaphore } from './semaphore.ts';

/** A user of Postgres, with the password that Postgres checks. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** Where the gateway's Postgres is: the only host, port and database that a connection string may name. */
export interface Place {
  /** The host, or the folder of a Unix-domain socket, which a connection string names `localhost`. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
}

/** The connection string that {@link loginOf} reads. */
export const connectionString = ({ host, port, database }: Place, { user, password }: Login): string => {
  const [name, secret, path] = [user, password, database].map(encodeURIComponent);
  return `postgresql://${name}:${secret}@${hostOf(host)}:${port}/${path}`;
};

const hostOf = (host: string) => (host.startsWith('/') ? 'localhost' : host.toLowerCase());

/** A statement, its parameters, and whether its rows are arrays. */
export interface Statement {
  readonly query: string;
  /** Any JSON. `pg` turns an array into Postgres's literal of an array, and an object into JSON. */
  readonly params: unknown[];
  readonly arrayMode: boolean;
}

/** What a request asks for. */
export interface Batch {
  /** One, unless there is a `begin`. */
  readonly statements: Statement[];
  /** The statement that begins the transaction in which they run. */
  readonly begin?: string;
  /** Whether values stay as Postgres prints them. */
  readonly isRaw: boolean;
}

/** Whether `Authorization` has the token. Takes as long for any other text. */
export function hasToken({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(authorization.replace(/^bearer +/i, '')), digest(token));
}

/** Parameters of a connection string that have no effect. GATEWAY_DATABASE decides on TLS; the driver adds its name. */
const IGNORED = new Set(['application_name', 'channel_binding', 'sslmode']);

/** @throws Failure 400 unless `Neon-Connection-String` is a `postgres://` URL with user and password that names `place` */
export function loginOf(headers: IncomingHttpHeaders, place: Place): Login {
  const refused = (reason: string) => new Failure(400, `invalid connection string (Neon-Connection-String): ${reason}`);
  const url = URL.parse(String(headers['neon-connection-string']));
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || !url.username || !url.password)
    throw refused('expected postgresql://user:password@host:port/database');
  const { user, password, database } = decoded(url) ?? {};
  if (user === undefined || password === undefined)
    throw refused('it has a % without two hexadecimal digits, or a %00');
  if (hostOf(url.hostname) !== hostOf(place.host)) throw refused('it names another host than GATEWAY_DATABASE');
  if (Number(url.port || 5432) !== place.port) throw refused('it names another port than GATEWAY_DATABASE');
  if (database !== place.database) throw refused('it names another database than GATEWAY_DATABASE');
  const parameter = [...url.searchParams.keys()].find((name) => !IGNORED.has(name));
  if (parameter !== undefined || url.hash) throw refused(`it has a parameter other than ${[...IGNORED].join(', ')}`);
  return { user, password };
}

/** User, password and database of a URL; undefined if they cannot be decoded, or have a NUL, which ends a text in Postgres's protocol. */
function decoded({ username, password, pathname }: URL) {
  try {
    const [user = '', secret = '', database = ''] = [username, password, pathname.slice(1)].map(decodeURIComponent);
    return `${user}${secret}${database}`.includes('\0') ? undefined : { user, password: secret, database };
  } catch {
    return undefined;
  }
}

/** A larger body takes one of the turns for large bodies. */
const SMALL_BODY_BYTES = 64 * 1024;

/**
 * Reads the body of a request.
 *
 * @param limit of bytes
 * @param turns how many larger bodies can be in memory. The turn ends when `signal` is aborted.
 * @throws Failure 413 when the body is longer, as soon as that is known
 */
export async function readBody(
  request: IncomingMessage,
  { limit, turns, signal }: { limit: number; turns: Semaphore; signal: AbortSignal },
): Promise<string> {
  const tooLarge = () => new Failure(413, `request is too large (max is ${limit} bytes)`);
  if (Number(request.headers['content-length']) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // The request is not destroyed with the iterator: its response is still to be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (size <= SMALL_BODY_BYTES && size + chunk.length > SMALL_BODY_BYTES) await turns.acquire(signal);
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const ISOLATION_LEVEL = /^(?:ReadUncommitted|ReadCommitted|RepeatableRead|Serializable)$/;

/**
 * Reads the headers and the body of a request: `{"query":"…","params":[…]}`, or `{"queries":[…]}` for a transaction, each with an
 * optional `arrayMode`.
 *
 * @throws Failure 400 for anything else
 */
export function batchOf(headers: IncomingHttpHeaders, body: string): Batch {
  const has = (name: string) => headers[name] === 'true';
  const level = headers['neon-batch-isolation-level'];
  if (level !== undefined && !ISOLATION_LEVEL.test(String(level)))
    throw new Failure(400, 'invalid isolation level (Neon-Batch-Isolation-Level)');
  const json = parsed(body);
  const queries = isObject(json) && ('query' in json ? [json] : json['queries']);
  if (!isObject(json) || !Array.isArray(queries)) throw unreadable('expected "query" and "params", or "queries"');
  const statements = queries.map((query) => statementOf(query, has('neon-array-mode')));
  const isRaw = has('neon-raw-text-output');
  if ('query' in json) return { statements, isRaw };
  const modes = [
    level !== undefined && `ISOLATION LEVEL ${String(level).replace(/\B[A-Z]/, ' $&')}`,
    has('neon-batch-read-only') && 'READ ONLY',
    has('neon-batch-deferrable') && 'DEFERRABLE',
  ];
  return { statements, isRaw, begin: `START TRANSACTION ${modes.filter(Boolean).join(', ')}` };
}

function statementOf(statement: unknown, isArrayMode: boolean): Statement {
  const { query, params = [], arrayMode = isArrayMode } = isObject(statement) ? statement : {};
  if (typeof query !== 'string') throw unreadable('"query" must be a text');
  if (!Array.isArray(params)) throw unreadable('"params" must be an array');
  return { query, params, arrayMode: arrayMode === true };
}

interface RawJson extends JSON {
  rawJSON(text: string): unknown;
}

/** Parses JSON. A number keeps its digits, of which JavaScript would lose some. */
function parsed(body: string): unknown {
  const checked = (_: string, value: unknown, { source = '' }: { source?: string }) => {
    // UTF-8 has no half of a surrogate pair, and a NUL ends a text in Postgres's protocol.
    if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0')))
      throw unreadable('a text has a NUL, or half of a surrogate pair');
    return typeof value === 'number' ? (JSON as RawJson).rawJSON(source) : value;
  };
  try {
    return JSON.parse(body, checked as (key: string, value: unknown) => unknown);
  } catch (error) {
    throw error instanceof Failure ? error : unreadable('it is not JSON');
  }
}

const unreadable = (reason: string) => new Failure(400, `could not parse the HTTP request body: ${reason}`);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

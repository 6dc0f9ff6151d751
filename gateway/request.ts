import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { unescape } from 'node:querystring';
import type { Client } from 'pg';
import { Failure } from './failure.ts';
import type { TakeTurn } from './turns.ts';

/** A user of Postgres, with the password that Postgres checks. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/**
 * Where Postgres is. A host that begins with / is the folder of a Unix-domain socket, which
 * connection strings name `localhost`.
 */
export type Place = Readonly<Pick<Client, 'host' | 'port' | 'database'>>;

/** A statement and its parameters. `pg` turns those of any JSON type into text. */
export interface Statement {
  readonly query: string;
  readonly params: unknown[];
}

/**
 * What a request asks for: one statement, or any number after `begin`, which begins a transaction.
 */
export type Batch = ReturnType<typeof batchOf>;

export interface Limits {
  /** A longer response fails with 507. One row can be longer, as with Neon. */
  readonly maxResponseBytes: number;
  /**
   * Bytes that large requests and large responses may take. The rest of one is not read until there
   * is room for it.
   */
  readonly memory: TakeTurn;
  /** Aborted when the response has ended, or its client has disconnected. */
  readonly signal: AbortSignal;
}

const digest = (text: string) => hash('sha256', text, 'buffer');

/** Whether `Authorization` is `Bearer <token>`. Takes as long for any other text. */
export const hasToken = ({ authorization = '' }: IncomingHttpHeaders, token: string) =>
  timingSafeEqual(
    digest(authorization.replace(/^bearer +/i, 'Bearer ')),
    digest(`Bearer ${token}`),
  );

/** As a URL names it. `pg` has no brackets around an IPv6 address. */
const hostOf = (host: string) =>
  host.startsWith('/') ? 'localhost' : host.toLowerCase().replace(/^[^[].*:.*/, '[$&]');

/** The connection string that {@link loginOf} reads. */
export function connectionString(
  { host, port, database = '' }: Place,
  { user, password }: Login,
): string {
  const [name, secret, path] = [user, password, database].map(encodeURIComponent);
  return `postgresql://${name}:${secret}@${hostOf(host)}:${port}/${path}`;
}

/**
 * Parameters that have no effect. The driver adds its name, and GATEWAY_DATABASE decides on TLS.
 */
const IGNORED = ['application_name', 'channel_binding', 'sslmode'];

/**
 * @throws Failure 400 unless `Neon-Connection-String` is a `postgres://` URL with user and password
 * that names `place`
 */
export function loginOf(headers: IncomingHttpHeaders, place: Place): Login {
  const refused = (reason: string) =>
    new Failure(400, `invalid connection string (Neon-Connection-String): ${reason}`);
  const url = URL.parse(String(headers['neon-connection-string']));
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol) || !url.username || !url.password)
    throw refused('expected postgresql://user:password@host:port/database');
  const [user = '', password = '', database] = [
    url.username,
    url.password,
    url.pathname.slice(1),
  ].map(unescape);
  // A NUL ends a text in Postgres's protocol.
  if (`${user}${password}`.includes('\0')) throw refused('user and password must not have %00');
  const named = { host: hostOf(url.hostname), port: Number(url.port || 5432), database };
  const served = { ...place, host: hostOf(place.host) };
  for (const part of ['host', 'port', 'database'] as const)
    if (named[part] !== served[part])
      throw refused(`it names another ${part} than GATEWAY_DATABASE`);
  if (url.hash || [...url.searchParams.keys()].some((name) => !IGNORED.includes(name)))
    throw refused(`it has a parameter other than ${IGNORED.join(', ')}`);
  return { user, password };
}

/** As Neon. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** A larger request takes its length of the shared memory, and as much for what is made of it. */
const SMALL_BYTES = 64 * 1024;

/** Reads the body of a request. @throws Failure 413 as soon as it is known to be too large */
export async function readBody(
  request: IncomingMessage,
  { memory, signal }: Limits,
): Promise<Buffer> {
  const tooLarge = () => new Failure(413, `request is too large (max is ${MAX_BYTES} bytes)`);
  const length = Number(request.headers['content-length'] ?? MAX_BYTES);
  if (length > MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // The request is not destroyed with the iterator: its response is still to be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (size <= SMALL_BYTES && size + chunk.length > SMALL_BYTES) await memory(signal, 2 * length);
    size += chunk.length;
    if (size > MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }

  return Buffer.concat(chunks);
}

/** As in Postgres's protocol. */
const MAX_PARAMS = 65_535;

/** The most commas, and brackets in each other, of a request: what is made of a value takes memory. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 12;

/**
 * Reads `{"query":"…","params":[…]}`, or `{"queries":[…]}` and the headers for a transaction.
 * @throws Failure 400 for anything else
 */
export function batchOf(headers: IncomingHttpHeaders, body: Buffer) {
  const has = (name: string) => headers[name] === 'true';
  const level = String(headers['neon-batch-isolation-level'] ?? '');
  if (!/^(?:|ReadUncommitted|ReadCommitted|RepeatableRead|Serializable)$/.test(level))
    throw new Failure(400, 'invalid isolation level');
  const modes = [
    level && `ISOLATION LEVEL ${level.replace(/\B[A-Z]/, ' $&')}`,
    has('neon-batch-read-only') && 'READ ONLY',
    has('neon-batch-deferrable') && 'DEFERRABLE',
  ];

  const json = parsed(body);
  const isSingle = 'query' in json;
  const queries = isSingle ? [json] : json['queries'];
  if (!Array.isArray(queries)) throw unreadable('expected "query" and "params", or "queries"');
  const statements = queries.map((item: unknown) => {
    const { query, params = [] } = Object(item) as Partial<Statement>;
    if (typeof query !== 'string') throw unreadable('"query" must be a text');
    if (!Array.isArray(params) || params.length > MAX_PARAMS)
      throw unreadable(`"params" must be an array of at most ${MAX_PARAMS} parameters`);
    const values = [query, ...params.flat(MAX_DEPTH)]; // the items of a list become one text
    if (values.some((value) => typeof value === 'string' && !isText(value)))
      throw unreadable('a text must not have a NUL or half of a surrogate pair');
    return { query, params };
  });

  return {
    statements,
    begin: isSingle ? undefined : `START TRANSACTION ${modes.filter(Boolean).join(', ')}`,
  };
}

function parsed(body: Buffer): Record<string, unknown> {
  checkShape(body);
  try {
    return Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))) as Record<
      string,
      unknown
    >;
  } catch {
    throw unreadable('it is not JSON');
  }
}

/** @throws Failure 400 for JSON that would become much more than its text */
function checkShape(json: Buffer): void {
  let [values, depth, isInText] = [0, 0, false];

  for (let i = 0; i < json.length; i++) {
    const byte = json[i] ?? 0;
    const kind = byte | 0x20; // alike for [ and {, and for ] and }
    if (byte === 0x5c) i++; // a backslash
    else if (byte === 0x22) isInText = !isInText;
    else if (isInText) continue;
    else if (kind === 0x7d) depth--;
    else if (kind === 0x7b) depth++;
    else if (byte === 0x2c) values++; // a comma

    if (values > MAX_VALUES || depth > MAX_DEPTH)
      throw unreadable('it has too many values, or too deep');
  }
}

/** UTF-8 has no half of a surrogate pair, and a NUL ends a text in Postgres's protocol. */
const isText = (text: string) => text.isWellFormed() && !text.includes('\0');

const unreadable = (reason: string) =>
  new Failure(400, `could not parse the HTTP request body: ${reason}`);

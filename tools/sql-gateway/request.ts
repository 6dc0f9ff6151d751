import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { clientGone, Failure } from './failures.ts';
import { toParameter } from './parameters.ts';

/** A statement to run, its parameters in Postgres' text form. */
export interface Statement {
  text: string;
  parameters: (string | null)[];
  /** Rows as arrays, not as objects. */
  arrayMode: boolean;
}

/** A statement by itself, or several in one transaction that starts with the statement `begin`. */
export type Work = { single: Statement } | { batch: Statement[]; begin: string };

/** Whom a request comes from. */
export interface Login {
  user: string;
  password: string;
  database: string;
}

const ISOLATION_LEVELS = new Map([
  ['Serializable', 'SERIALIZABLE'],
  ['ReadUncommitted', 'READ UNCOMMITTED'],
  ['ReadCommitted', 'READ COMMITTED'],
  ['RepeatableRead', 'REPEATABLE READ'],
]);

/** Reads the header `Neon-Connection-String`, of which user, password and database count. */
export function loginOf(headers: IncomingHttpHeaders): Login {
  const text = headers['neon-connection-string'];
  if (typeof text !== 'string') throw new Failure(400, 'invalid header: neon-connection-string');
  const url = URL.parse(text);
  if (!url) throw new Failure(400, 'invalid connection string');
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') throw new Failure(400, 'incorrect scheme');
  if (!url.username) throw new Failure(400, 'missing username');
  if (!url.password) throw new Failure(400, 'missing authentication credentials: required password');
  const database = url.pathname.split('/')[1];
  if (!database) throw new Failure(400, 'missing database name');
  return { user: decode(url.username), password: decode(url.password), database: decode(database) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Failure(400, 'invalid connection string');
  }
}

/** @throws Failure when the passwords differ; takes as long when they do in the first letter as in the last */
export function checkPassword({ user, password }: Login, wanted: string): void {
  if (timingSafeEqual(digest(password), digest(wanted))) return;
  throw new Failure(400, `password authentication failed for user '${user}'`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** @throws Failure 413 when the body has more than `limit` bytes */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // What comes after goes nowhere, but is read: the client may not look for an answer before it has sent all.
    if (size > limit) reject(new Failure(413, `request is too large (max is ${limit} bytes)`));
    else chunks.push(chunk);
  });
  request.on('end', resolve);
  request.on('close', () => reject(clientGone()));
  await promise;
  return Buffer.concat(chunks).toString('utf8');
}

/** What the body, `{query, params?, arrayMode?}` or `{queries:[…]}`, and the headers ask for. */
export function workOf(body: string, headers: IncomingHttpHeaders): Work {
  const begin = beginOf(headers);
  const arrayMode = isTrue(headers, 'neon-array-mode');
  const payload = parseJson(body);
  if (!isRecord(payload)) throw unreadable('data did not match any variant of untagged enum Payload');
  if (typeof payload['query'] === 'string') return { single: statementOf(payload, arrayMode) };
  if (!Array.isArray(payload['queries'])) throw unreadable('data did not match any variant of untagged enum Payload');
  return { batch: payload['queries'].map((query: unknown) => statementOf(query, arrayMode)), begin };
}

/** Neon takes a flag for set only if it is exactly `true`. */
export function isTrue(headers: IncomingHttpHeaders, name: string): boolean {
  return headers[name] === 'true';
}

function beginOf(headers: IncomingHttpHeaders): string {
  const modes: string[] = [];
  const isolation = headers['neon-batch-isolation-level'];
  if (isolation !== undefined) {
    const level = typeof isolation === 'string' ? ISOLATION_LEVELS.get(isolation) : undefined;
    if (level === undefined) throw new Failure(400, 'invalid isolation level');
    modes.push(`ISOLATION LEVEL ${level}`);
  }
  if (isTrue(headers, 'neon-batch-read-only')) modes.push('READ ONLY');
  if (isTrue(headers, 'neon-batch-deferrable')) modes.push('DEFERRABLE');
  return `START TRANSACTION ${modes.join(', ')}`;
}

function statementOf(value: unknown, arrayMode: boolean): Statement {
  if (!isRecord(value) || typeof value['query'] !== 'string') throw unreadable('missing field `query`');
  const { query: text, params = [], arrayMode: own } = value;
  if (!Array.isArray(params)) throw unreadable('params: expected a sequence');
  return { text, parameters: params.map(toParameter), arrayMode: typeof own === 'boolean' ? own : arrayMode };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error));
  }
}

function unreadable(reason: string): Failure {
  return new Failure(400, `could not parse the HTTP request body: ${reason}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Failure } from './failure.ts';

/** A statement and its parameters, as text. */
export interface Statement {
  text: string;
  parameters: (string | null)[];
}

/** The parts of `Neon-Connection-String` that are used. */
export interface Login {
  user: string;
  password: string;
  database: string;
}

/** @throws Failure 400, with the messages of Neon's proxy */
export function loginOf(headers: IncomingHttpHeaders): Login {
  const text = headers['neon-connection-string'];
  if (typeof text !== 'string') throw new Failure(400, 'invalid header: neon-connection-string');
  const url = URL.parse(text);
  if (!url) throw new Failure(400, 'invalid connection string: relative URL without a base');
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

/** Compares in constant time. @throws Failure 400 */
export function checkPassword({ user, password }: Login, expected: string): void {
  if (timingSafeEqual(hash('sha256', password, 'buffer'), hash('sha256', expected, 'buffer'))) return;
  throw new Failure(400, `password authentication failed for user '${user}'`);
}

/** @throws Failure 400 if the client does not expect rows as arrays of text */
export function requireRawArrays(headers: IncomingHttpHeaders): void {
  for (const flag of ['Neon-Raw-Text-Output', 'Neon-Array-Mode']) {
    if (headers[flag.toLowerCase()] !== 'true') throw new Failure(400, `${flag} must be "true" here`);
  }
}

/** @throws Failure 413 when the body has more than `limit` bytes */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A body that is too large is read to its end: a client may send all of it before it reads the response.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  if (size > limit) throw new Failure(413, `request is too large (max is ${limit} bytes)`);
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads the body `{"query":"…","params":[…]}`. The driver turns every parameter into text or null. @throws Failure 400 */
export function statementOf(body: string): Statement {
  const { query, params = [] } = parseObject(body);
  if (!isText(query)) throw unreadable('"query" must be a well-formed string (batches are not supported here)');
  if (!Array.isArray(params) || !params.every((value) => value === null || isText(value))) {
    throw unreadable('"params" must be an array of well-formed strings and nulls');
  }
  return { text: query, parameters: params };
}

/** Neon's proxy refuses half of a surrogate pair, which JSON can escape and UTF-8 cannot encode. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

function unreadable(reason: string): Failure {
  return new Failure(400, `could not parse the HTTP request body: ${reason}`);
}

import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Failure } from './failure.ts';

/** A statement and its parameters, as text. */
export interface Statement {
  text: string;
  parameters: (string | null)[];
}

/**
 * Reads the user and the database in `Neon-Connection-String`.
 *
 * @param expected the password, compared in constant time
 * @throws Failure 400 for another password, or for what Neon's driver never sends
 */
export function loginOf(headers: IncomingHttpHeaders, expected: string) {
  const url = URL.parse(String(headers['neon-connection-string']));
  const name = url?.pathname.split('/')[1];
  if (!url?.username || !url.password || !name) throw new Failure(400, 'invalid connection string');
  const [user = '', password = '', database = ''] = [url.username, url.password, name].map(decodeURIComponent);
  if (!timingSafeEqual(hash('sha256', password, 'buffer'), hash('sha256', expected, 'buffer')))
    throw new Failure(400, `password authentication failed for user '${user}'`);
  return { user, database };
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
  try {
    const { query, params = [] } = JSON.parse(body) as { query: unknown; params?: unknown[] };
    if (isText(query) && params.every((value) => value === null || isText(value)))
      return { text: query, parameters: params };
  } catch {
    // refused as well
  }
  const expected = 'expected a "query" and its "params", all well-formed text (transactions are not supported here)';
  throw new Failure(400, `could not parse the HTTP request body: ${expected}`);
}

/** Neon's proxy refuses half of a surrogate pair, which JSON can escape and UTF-8 cannot encode. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

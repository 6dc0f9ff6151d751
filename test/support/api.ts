import { expectAsDescribed } from './conformance.ts';
import { stackAddress } from './stack-address.ts';

/** An answer of the service, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface Ask {
  readonly key?: string | undefined;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Where the service is, without a slash at the end. */
export const origin = () => stackAddress().origin;

/** @param path from the API's base path on, such as `/surveys`; see {@link askAnywhere} */
export function ask(path: string, options: Ask = {}): Promise<Answer> {
  return askAnywhere(`/api/v1${path}`, options);
}

/**
 * Asks, and holds the answer against /openapi.json, whatever else the test wants of it.
 *
 * @param path from the origin on, sent as it is
 */
export async function askAnywhere(path: string, { key, method = 'GET', headers = {} }: Ask = {}): Promise<Answer> {
  const response = await fetch(origin() + path, {
    method,
    headers: { ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }), ...headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const answer = { status: response.status, headers: response.headers, bytes, text: bytes.toString('utf8') };
  await expectAsDescribed(origin(), { method, path }, answer);
  return answer;
}

/** A query string out of parameters, each encoded; undefined ones left out. */
export function query(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** An error's body, exactly. */
export const errorBody = (message: string) => JSON.stringify({ error: { message } });

/** A response row as `/responses` gives it. */
export type ResponseRow = Record<string, unknown> & { token: string };

export interface Page {
  readonly responses: ResponseRow[];
}

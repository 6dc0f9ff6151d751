import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { query } from './api.ts';
import type { TestSurvey } from './data.ts';
import { stackAddress } from './stack-address.ts';

export interface Opening {
  readonly key: string;
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Sends a request. @param path after the API's base path @returns the response before its body is
 * read
 */
export async function open(
  path: string,
  { key, headers, ...options }: Opening,
): Promise<IncomingMessage> {
  const sent = request(`${stackAddress().origin}/api/v1${path}`, {
    agent: false,
    headers: { Authorization: `Bearer ${key}`, ...headers },
    ...options,
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {}); // also after the response has begun
  return response;
}

export const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
  );

/** Starts the download of a survey's CSV, or another file. */
export function beginExport(
  { name, account }: TestSurvey,
  {
    file = 'csv',
    parameters = {},
    headers = {},
  }: { file?: string; parameters?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  return open(`/responses/${file}${query({ survey: name, ...parameters })}`, {
    key: account.key,
    headers,
  });
}

/**
 * Reads a download to its end. `complete` is false if the transfer broke off.
 *
 * Reads every byte that arrives: iterating over the stream would drop what it has buffered when the
 * transfer breaks off.
 */
export async function readExport(
  response: IncomingMessage,
): Promise<{ complete: boolean; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  response
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('error', () => {}) // followed by close
    .on('close', resolve)
    .resume();
  await promise;
  return { complete: response.complete, bytes: Buffer.concat(chunks) };
}

/** Downloads a file to its end. */
export const download = async (...file: Parameters<typeof beginExport>) =>
  readExport(await beginExport(...file));

/**
 * Decompresses as much as possible of a transfer that broke off. @throws Error when a complete one
 * is not gzip
 */
export function decompress(bytes: Buffer, complete: boolean): Buffer {
  if (bytes.length === 0 && !complete) return bytes;
  return gunzipSync(bytes, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH });
}

import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { query } from './api.ts';
import type { TestSurvey } from './data.ts';
import { stackAddress } from './stack-address.ts';

/** Starts the download of a survey's CSV, or another file. */
export async function beginExport(
  survey: TestSurvey,
  {
    file = 'csv',
    parameters = {},
    headers = {},
  }: { file?: string; parameters?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  const url = `${stackAddress().origin}/api/v1/responses/${file}${query({ survey: survey.name, ...parameters })}`;
  const request = get(url, { agent: false, headers: { Authorization: `Bearer ${survey.account.key}`, ...headers } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/**
 * Reads a download to its end. `complete` is false if the transfer broke off.
 *
 * Reads every byte that arrives: iterating over the stream would drop what it has buffered when the transfer breaks off.
 */
export async function readExport(response: IncomingMessage): Promise<{ complete: boolean; bytes: Buffer }> {
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

/** Decompresses as much as possible of a transfer that broke off. @throws Error when a complete one is not gzip */
export function decompress(bytes: Buffer, complete: boolean): Buffer {
  if (bytes.length === 0 && !complete) return bytes;
  return gunzipSync(bytes, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH });
}

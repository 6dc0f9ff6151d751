import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { query } from '../support/api.ts';
import { stackAddress } from '../support/stack-address.ts';

export type Parameters = Record<string, string | number | undefined>;

/** Sends a request and returns the response before its body is read. @param path after the API's base path */
export async function send(
  path: string,
  parameters: Parameters,
  key: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const request = get(`${stackAddress().origin}/api/v1${path}${query(parameters)}`, {
    agent: false,
    headers: { Authorization: `Bearer ${key}`, ...headers },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => {}); // caused by disconnecting
  return response;
}

/** Reads a body to its end. @param slowMs how long to read slowly @throws Error if the transfer breaks off */
export async function read(response: IncomingMessage, slowMs = 0): Promise<string> {
  const chunks: Buffer[] = [];
  const slowUntil = Date.now() + slowMs;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    if (Date.now() < slowUntil) await sleep(40);
  }
  if (!response.complete) throw new Error('the transfer broke off');
  const bytes = Buffer.concat(chunks);
  return (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

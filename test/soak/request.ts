import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { query } from '../support/api.ts';
import { openWhenFree } from '../support/export.ts';

export type Parameters = Record<string, string | number | undefined>;

/** Sends a request and returns the response before its body is read. @param path after the API's base path */
export async function send(
  path: string,
  parameters: Parameters,
  key: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  return openWhenFree(path + query(parameters), { headers: { Authorization: `Bearer ${key}`, ...headers } });
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

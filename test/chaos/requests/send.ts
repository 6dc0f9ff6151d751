import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { decompress } from '../../support/export.ts';
import { stackAddress } from '../../support/stack-address.ts';

/** How to send a request. */
export interface Sending {
  readonly key: string;
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** How long to read slowly, in milliseconds. */
  readonly slowMs?: number | undefined;
}

/** A response, decompressed. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** Whether the transfer ended properly. */
  readonly complete: boolean;
  readonly bytes: Buffer;
}

/** Longer than every retry. A response that takes longer is taken for one without an end. */
const MAX_SECONDS = 120;
/** No response is longer. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Sends a request. @param address after the API's base path @returns the response before its body is read */
export async function open(
  address: string,
  { key, method = 'GET', headers }: Sending,
  signal = AbortSignal.timeout(1000 * MAX_SECONDS),
): Promise<IncomingMessage> {
  const sent = request(`${stackAddress().origin}/api/v1${address}`, {
    agent: false,
    method,
    headers: { Authorization: `Bearer ${key}`, ...headers },
    signal,
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {}); // also after the response has begun
  return response;
}

/** Sends a request and reads its response. @throws Error if there is none, or it has no end */
export async function send(address: string, sending: Sending): Promise<Received> {
  const signal = AbortSignal.timeout(1000 * MAX_SECONDS);
  const response = await open(address, sending, signal);
  const { slowMs = 0 } = sending;
  const slowUntil = Date.now() + slowMs;
  const chunks: Buffer[] = [];
  let length = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  response
    .on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BYTES) response.destroy();
      if (Date.now() > slowUntil) return;
      response.pause();
      void sleep(40).then(() => response.resume());
    })
    .on('error', () => {}) // followed by close
    .on('close', resolve);
  await promise;
  if (length > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
  if (signal.aborted) throw new Error(`no end within ${MAX_SECONDS} s`);
  const { complete } = response;
  const bytes = Buffer.concat(chunks);
  const isCompressed = response.headers['content-encoding'] === 'gzip' && length > 0; // not that of a HEAD or a 304
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(
      Object.entries(response.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      ),
    ),
    complete,
    bytes: isCompressed ? decompress(bytes, complete) : bytes,
  };
}

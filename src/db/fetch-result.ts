import { DatabaseError, failureOfStatus } from './errors.ts';
import type { QueryStats } from './query-stats.ts';

/**
 * How much of a body is read at a time, in bytes: half of an export's page. The runtime copies each read, so larger ones take more
 * memory; many small ones leave more garbage.
 */
const READ_BYTES = 2.25 * 1024 * 1024;

/** What a query passes through the driver to {@link fetchResult}, besides fetch's own options. */
export interface FetchOptions {
  signal: AbortSignal;
  maxBytes: number | undefined;
  raw: boolean;
  stats: QueryStats;
}

/**
 * The driver's fetch. Turns an error status into a DatabaseError before the driver makes its own error of it. With `raw`, the
 * driver gets a result without rows, with the bytes as `body`; with `fullResults` it returns that same object.
 */
export async function fetchResult(url: string, options: RequestInit & FetchOptions): Promise<unknown> {
  const { maxBytes = Infinity, raw, stats, ...init } = options;
  stats.requests++;
  const response = await fetch(url, init);
  if (response.status === 400) return response;
  if (!response.ok) throw failureOfStatus(response.status, await response.text());

  const length = Number(response.headers.get('Content-Length') ?? 0);
  if (length > maxBytes) {
    await response.body?.cancel();
    throw new DatabaseError('too-large', `a response of ${length} bytes, more than the ${maxBytes} allowed`);
  }
  if (!raw) return response;
  const json = async () => ({ fields: [], rows: [], body: await readBytes(response, length) });
  return { ok: true, status: response.status, json };
}

/**
 * Reads a body into one buffer. `arrayBuffer()` would collect its parts and then join them, which takes twice the memory. Nor is the
 * whole body read at once: the runtime would read into another buffer, as large as the view it is given, and copy it. With a
 * `Content-Encoding`, the length is not that of the bytes read.
 */
async function readBytes(response: Response, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { body, headers } = response;
  if (!body || length <= READ_BYTES || headers.has('Content-Encoding'))
    return new Uint8Array(await response.arrayBuffer());
  const reader = body.getReader({ mode: 'byob' }) as unknown as ByteReader;
  let bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const part = bytes.subarray(at, at + READ_BYTES);
    const { done, value } = await reader.readAtLeast(part.length, part);
    if (done) throw truncated('fewer');
    bytes = new Uint8Array(value.buffer); // the read has transferred the buffer
    at += value.length;
  }
  // Only when it is read to its end does the stream release its memory.
  if (!(await reader.readAtLeast(1, new Uint8Array(1))).done) throw truncated('more');
  return bytes;
}

/** The runtime's reader, which can wait for a number of bytes: https://developers.cloudflare.com/workers/runtime-apis/streams/readablestreambyobreader/ */
interface ByteReader {
  readonly readAtLeast: (
    bytes: number,
    view: Uint8Array<ArrayBuffer>,
  ) => Promise<
    | { readonly done: false; readonly value: Uint8Array<ArrayBuffer> }
    | { readonly done: true; readonly value?: undefined }
  >;
}

const truncated = (how: string) =>
  new DatabaseError('transient', `a response with ${how} bytes than its Content-Length`);

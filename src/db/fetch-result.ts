import { Output } from '../encode/bytes.ts';
import { DatabaseError, failureOfStatus } from './errors.ts';
import type { QueryStats } from './query-stats.ts';

/**
 * How much of a body is read at a time, in bytes. The runtime copies each read, so larger ones take more memory; many small ones leave
 * more garbage.
 */
const READ_BYTES = 256 * 1024;

/** What a result can have at most, unless the query allows less: Neon's own limit. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What is read of an error. It may quote a value of any length. */
const MAX_ERROR_BYTES = 8 * 1024;

/** What a query passes through the driver to {@link fetchResult}, besides fetch's own options. */
export interface FetchOptions {
  signal: AbortSignal;
  maxBytes: number | undefined;
  raw: boolean;
  stats: QueryStats;
  /** Counts the bytes of the result, before they are read; if their number is not known, those read so far and next. Throws to refuse them. */
  reserve: (bytes: number) => void;
}

/**
 * The driver's fetch. Turns an error status into a DatabaseError before the driver makes its own error of it. With `raw`, the
 * driver gets a result without rows, with the bytes as `body`; with `fullResults` it returns that same object.
 */
export async function fetchResult(url: string, options: RequestInit & FetchOptions): Promise<unknown> {
  const { maxBytes = MAX_BYTES, raw, stats, reserve, ...init } = options;
  stats.requests++;
  // A redirect would send the password to another address. The endpoint has no reason for one.
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const { ok, status } = response;
  if (!ok) {
    const error = await readError(response);
    if (status !== 400) throw failureOfStatus(status, error);
    return { ok, status, json: async () => JSON.parse(error) as unknown };
  }
  const body = await readBytes(response, maxBytes, reserve);
  const json = async () => (raw ? { fields: [], rows: [], body } : (JSON.parse(utf8.decode(body)) as unknown));
  return { ok, status, json };
}

const utf8 = new TextDecoder();

/** @throws DatabaseError for an error of Postgres that is too long */
async function readError(response: Response): Promise<string> {
  const { bytes, isWhole } = await readStart(response, MAX_ERROR_BYTES);
  const text = utf8.decode(bytes);
  if (isWhole || response.status !== 400) return text;
  throw new DatabaseError('defect', `an error of more than ${MAX_ERROR_BYTES} bytes: ${text.slice(0, 500)}`);
}

/**
 * Reads a body into one buffer. `arrayBuffer()` would collect its parts and then join them, which takes twice the memory. Nor is the
 * whole body read at once: the runtime would read into another buffer, as large as the view it is given, and copy it.
 *
 * @throws DatabaseError `too-large` for more than `maxBytes`, of which no more are read
 */
async function readBytes(
  response: Response,
  maxBytes: number,
  reserve: FetchOptions['reserve'],
): Promise<Uint8Array<ArrayBuffer>> {
  const { body, headers } = response;
  // With a `Content-Encoding`, the length is not that of the bytes read.
  const declared = headers.has('Content-Encoding') ? null : headers.get('Content-Length');
  if (!body || declared === null) {
    const { bytes, isWhole } = await readStart(response, maxBytes, reserve);
    if (!isWhole) throw tooLarge(maxBytes);
    return bytes;
  }
  const length = Number(declared);
  try {
    if (length > maxBytes) throw tooLarge(maxBytes);
    reserve(length);
  } catch (error) {
    await body.cancel();
    throw error;
  }
  if (length <= READ_BYTES) return new Uint8Array(await response.arrayBuffer());
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

/** Reads a body of unknown length, at most so many bytes of it. @returns whether these are all */
async function readStart(
  { body }: Response,
  maxBytes: number,
  reserve?: FetchOptions['reserve'],
): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const output = new Output();
  for await (const chunk of body ?? []) {
    const room = maxBytes - output.length;
    const part = chunk.subarray(0, room);
    reserve?.(output.capacityFor(part.length));
    output.reserve(part.length);
    output.write(part);
    if (chunk.length > room) return { bytes: output.written, isWhole: false }; // leaving the loop cancels the body
  }
  return { bytes: output.written, isWhole: true };
}

const tooLarge = (maxBytes: number) =>
  new DatabaseError('too-large', `a response of more than the ${maxBytes} bytes allowed`);

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

import type { ReadableStreamBYOBReader } from '@cloudflare/workers-types';
import { Output, free } from '../encode/bytes.ts';
import { failureOfStatus } from './errors.ts';

/**
 * How many bytes of a body are read at a time. The runtime copies each read: large ones take
 * memory, small ones leave garbage.
 */
const READ_BYTES = 256 * 1024;

/** The longest error. One may quote a value of any length. */
const MAX_ERROR_BYTES = 8 * 1024;

/** What a query passes through the driver to {@link fetchResult}, besides fetch's own options. */
export interface FetchOptions {
  signal: AbortSignal;
  /** @throws DatabaseError unless a result of so many bytes may be read, or read on */
  checkLength: (bytes: number) => void | Promise<void>;
  /** Headers besides the driver's. */
  more: Readonly<Record<string, string>>;
}

/**
 * The driver's fetch. Turns an error status into a DatabaseError before the driver makes its own
 * error of it, except Postgres's errors. The driver gets a result without rows, with the bytes as
 * `body`; with `fullResults` it returns that same object.
 */
export async function fetchResult(
  url: string,
  { checkLength, more, ...init }: RequestInit & FetchOptions,
): Promise<unknown> {
  // A redirect would send the password to another address. The endpoint has no reason for one.
  const response = await fetch(url, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), ...more },
    redirect: 'manual',
  });
  const { ok, status } = response;
  const checkError = (bytes: number) => {
    if (bytes > MAX_ERROR_BYTES) throw failureOfStatus(status, 'an error that is too long');
  };
  const body = await readBody(response, ok ? checkLength : checkError);
  if (ok) return { ok, json: async () => ({ fields: [], rows: [], body }) };
  const error = utf8.decode(body);
  if (status !== 400) throw failureOfStatus(status, error);
  return { status, json: async () => JSON.parse(error) as unknown };
}

const utf8 = new TextDecoder();

/** The runtime's reader, which the tests' types lack. */
type ByteReader = Pick<ReadableStreamBYOBReader, 'readAtLeast' | 'cancel'>;

/**
 * Reads a body into one buffer. `arrayBuffer()` would collect its parts and then join them, which
 * takes twice the memory. Nor is the whole body read at once: the runtime would read into another
 * buffer, as large as the view it is given, and copy it.
 */
async function readBody(
  { body, headers }: Response,
  checkLength: FetchOptions['checkLength'],
): Promise<Uint8Array<ArrayBuffer>> {
  if (!body) return new Uint8Array();
  const output = new Output();
  // With a `Content-Encoding`, that of the compressed body: the loop checks the bytes read.
  const length = headers.get('Content-Length');
  const reader = body.getReader({ mode: 'byob' }) as unknown as ByteReader;
  let view = new Uint8Array(Math.min(READ_BYTES, Number(length ?? READ_BYTES) + 1));
  try {
    await checkLength(Number(length));
    output.reserve(Number(length));
    for (;;) {
      // A read that ends the stream has `done`, and perhaps bytes.
      const { done, value = new Uint8Array() } = await reader.readAtLeast(view.length, view);
      view = new Uint8Array(value.buffer);
      output.reserve(value.length);
      output.write(value);
      await checkLength(output.length);
      if (done) return output.written;
    }
  } finally {
    free(view);
    await reader.cancel(); // unless it was read to its end
  }
}

import { Output, free } from '../encode/bytes.ts';
import { DatabaseError, failureOfStatus } from './errors.ts';
import type { QueryStats } from './query-stats.ts';

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
  /** Whether a result of so many bytes may be read, or read on. */
  fits: (bytes: number) => boolean | Promise<boolean>;
  raw: boolean;
  stats: QueryStats;
  /** Headers besides the driver's. */
  more: Readonly<Record<string, string>>;
}

/**
 * The driver's fetch. Turns an error status into a DatabaseError before the driver makes its own
 * error of it. With `raw`, the driver gets a result without rows, with the bytes as `body`; with
 * `fullResults` it returns that same object.
 */
export async function fetchResult(
  url: string,
  options: RequestInit & FetchOptions,
): Promise<unknown> {
  const { fits, raw, stats, more, ...init } = options;
  stats.requests++;
  // A redirect would send the password to another address. The endpoint has no reason for one.
  const response = await fetch(url, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), ...more },
    redirect: 'manual',
  });
  const { ok, status } = response;
  if (!ok) {
    const error = await readError(response);
    if (status !== 400) throw failureOfStatus(status, error);
    return { ok, status, json: async () => JSON.parse(error) as unknown };
  }
  const { bytes: body, isWhole } = await readBody(response, fits);
  if (!isWhole) throw new DatabaseError('too-large', 'a response that does not fit in memory');
  const json = async () =>
    raw ? { fields: [], rows: [], body } : (JSON.parse(utf8.decode(body)) as unknown);
  return { ok, status, json };
}

const utf8 = new TextDecoder();

/** @throws DatabaseError for an error of Postgres that is too long */
async function readError(response: Response): Promise<string> {
  const isShort = (bytes: number) => bytes <= MAX_ERROR_BYTES;
  const { bytes, isWhole } = await readBody(new Response(response.body), isShort);
  const text = utf8.decode(bytes);
  if (isWhole || response.status !== 400) return text;
  throw new DatabaseError(
    'defect',
    `an error of more than ${MAX_ERROR_BYTES} bytes: ${text.slice(0, 500)}`,
  );
}

/**
 * Reads a body into one buffer. `arrayBuffer()` would collect its parts and then join them, which
 * takes twice the memory. Nor is the whole body read at once: the runtime would read into another
 * buffer, as large as the view it is given, and copy it.
 *
 * @returns the bytes, and whether they are all: of a body that does not fit, the first ones, or none
 * if its length was declared
 * @throws DatabaseError `transient` if they are not as many as declared
 */
async function readBody(
  { body, headers }: Response,
  fits: FetchOptions['fits'],
): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const output = new Output();
  // With a `Content-Encoding`, the length is not that of the bytes read.
  const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length');
  const reader = (body ?? new Blob([]).stream()).getReader({
    mode: 'byob',
  }) as unknown as ByteReader;
  let view = new Uint8Array(Math.min(READ_BYTES, Number(length ?? READ_BYTES) + 1));
  try {
    if (!(await fits(Number(length)))) return { bytes: output.written, isWhole: false };
    output.reserve(Number(length));
    for (;;) {
      const { done, value } = await reader.read(view, { min: view.length });
      view = new Uint8Array(value.buffer);
      output.reserve(value.length);
      output.write(value);
      if (!(await fits(output.length))) return { bytes: output.written, isWhole: false };
      if (done) break;
    }
  } finally {
    free(view);
    await reader.cancel(); // unless it was read to its end
  }
  if (length !== null && output.length !== Number(length))
    throw new DatabaseError(
      'transient',
      `a response of ${output.length} bytes with a Content-Length of ${length}`,
    );
  return { bytes: output.written, isWhole: true };
}

/**
 * The runtime's reader, whose `min` its types lack. A read that ends the stream has `done`, and
 * perhaps bytes.
 */
interface ByteReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { min: number },
  ): Promise<{ readonly done: boolean; readonly value: Uint8Array<ArrayBuffer> }>;
  cancel(): Promise<void>;
}

import type { IncomingMessage } from 'node:http';
import type { Page } from '../../support/api.ts';
import { decompress, openWhenFree, readExport } from '../../support/export.ts';

/** A response, decompressed. `complete` is false when the transfer broke off. */
export interface Download {
  readonly status: number;
  readonly complete: boolean;
  readonly bytes: Buffer;
  readonly retryAfter: string | undefined;
  /** The number of bytes received. */
  readonly received: number;
  /** The complete responses before this one. */
  readonly before: Buffer;
}

/** Longer than every retry. A download that is still running is taken for one without an end. */
const MAX_SECONDS = 120;

/**
 * Without any response, the status is 0.
 *
 * @param path after the API's base path
 * @throws Error if the response is longer than `maxBytes`, or has not ended after two minutes
 */
export async function download(path: string, headers: Record<string, string>, maxBytes = Infinity): Promise<Download> {
  const signal = AbortSignal.timeout(1000 * MAX_SECONDS);
  const before = Buffer.alloc(0);
  let response: IncomingMessage;
  try {
    response = await openWhenFree(path, { headers, signal });
  } catch {
    return { status: 0, complete: false, bytes: before, retryAfter: undefined, received: 0, before };
  }
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) response.destroy();
  });
  const { complete, bytes } = await readExport(response);
  if (received > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
  if (signal.aborted) throw new Error(`no end within ${MAX_SECONDS} s`);
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    complete,
    bytes: isCompressed ? decompress(bytes, complete) : bytes,
    retryAfter: response.headers['retry-after'],
    received,
    before,
  };
}

/**
 * Reads page after page, up to one with fewer rows than requested, as clients do. The bytes of the result are those of all
 * pages; unless all are complete, the result is that of the failed page.
 */
export async function downloadPages(
  path: string,
  pageSize: number,
  headers: Record<string, string>,
  maxBytes = Infinity,
): Promise<Download> {
  const pages: Buffer[] = [];
  let received = 0;
  for (let after = ''; ;) {
    const page = await download(`${path}&pageSize=${pageSize}${after}`, headers, maxBytes - received);
    received += page.received;
    if (page.status !== 200 || !page.complete) return { ...page, before: Buffer.concat(pages) };
    pages.push(page.bytes);
    const { responses } = JSON.parse(page.bytes.toString()) as Page;
    if (responses.length < pageSize) return { ...page, bytes: Buffer.concat(pages), received };
    after = `&after=${responses.at(-1)?.token}`;
  }
}

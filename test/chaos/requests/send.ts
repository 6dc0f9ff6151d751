import { type Opening, decompress, headersOf, open, readExport } from '../../support/export.ts';

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

/**
 * Sends a request and reads its response. @param address after the API's base path @throws Error if
 * there is none, or it has no end
 */
export async function send(address: string, opening: Opening): Promise<Received> {
  const signal = AbortSignal.timeout(1000 * MAX_SECONDS);
  const response = await open(address, { ...opening, signal });
  const { complete, bytes } = await readExport(response);
  if (signal.aborted) throw new Error(`no end within ${MAX_SECONDS} s`);
  // not that of a HEAD or a 304
  const isCompressed = response.headers['content-encoding'] === 'gzip' && bytes.length > 0;
  return {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    complete,
    bytes: isCompressed ? decompress(bytes, complete) : bytes,
  };
}

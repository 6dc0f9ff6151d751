import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { decompress, readExport } from '../../support/export.ts';
import { stackAddress } from '../../support/stack-address.ts';

/** A response, decompressed. `complete` is false when the transfer broke off. */
export interface Download {
  readonly status: number;
  readonly complete: boolean;
  readonly bytes: Buffer;
  readonly retryAfter: string | undefined;
}

/** Without any response, the status is 0. @param path after the API's base path */
export async function download(path: string, headers: Record<string, string>): Promise<Download> {
  const request = get(`${stackAddress().origin}/api/v1${path}`, { agent: false, headers });
  let response;
  try {
    [response] = (await once(request, 'response')) as [IncomingMessage];
  } catch {
    return { status: 0, complete: false, bytes: Buffer.alloc(0), retryAfter: undefined };
  }
  const { complete, bytes } = await readExport(response);
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    complete,
    bytes: isCompressed ? decompress(bytes, complete) : bytes,
    retryAfter: response.headers['retry-after'],
  };
}

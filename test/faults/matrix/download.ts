import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
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
  const { complete, bytes } = await readAll(response);
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    complete,
    bytes: isCompressed ? decompress(bytes, complete) : bytes,
    retryAfter: response.headers['retry-after'],
  };
}

/** Reads every byte that arrives. Iterating over the stream would drop the last chunk when the transfer breaks off. */
async function readAll(response: IncomingMessage): Promise<{ complete: boolean; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  response
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('error', () => {}) // followed by close
    .on('close', resolve);
  await promise;
  return { complete: response.complete, bytes: Buffer.concat(chunks) };
}

/** Decompresses as much as possible of a transfer that broke off. @throws Error when a complete one is not gzip */
function decompress(bytes: Buffer, complete: boolean): Buffer {
  if (bytes.length === 0 && !complete) return bytes;
  return gunzipSync(bytes, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH });
}

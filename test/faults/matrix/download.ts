import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { stackAddress } from '../../support/stack-address.ts';

/** What came of a request, unpacked. `complete` is false when the transfer broke off. */
export interface Download {
  readonly status: number;
  readonly complete: boolean;
  readonly bytes: Buffer;
  readonly retryAfter: string | undefined;
}

/** A request that gets no answer at all is one that broke off. @param path from the API's base path on */
export async function download(path: string, headers: Record<string, string>): Promise<Download> {
  const request = get(`${stackAddress().origin}/api/v1${path}`, { agent: false, headers });
  let response;
  try {
    [response] = (await once(request, 'response')) as [IncomingMessage];
  } catch {
    return { status: 0, complete: false, bytes: Buffer.alloc(0), retryAfter: undefined };
  }
  const { complete, bytes } = await readToTheEnd(response);
  const packed = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    complete,
    bytes: packed ? unpack(bytes, complete) : bytes,
    retryAfter: response.headers['retry-after'],
  };
}

/** All that came: a stream that is iterated over drops what it has just got when the transfer breaks off. */
async function readToTheEnd(response: IncomingMessage): Promise<{ complete: boolean; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  response
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('error', () => {}) // it closes as well
    .on('close', resolve);
  await promise;
  return { complete: response.complete, bytes: Buffer.concat(chunks) };
}

/** Of a transfer that broke off, as much as can be had. @throws Error when a complete one is no gzip file */
function unpack(bytes: Buffer, complete: boolean): Buffer {
  if (bytes.length === 0 && !complete) return bytes;
  return gunzipSync(bytes, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH });
}

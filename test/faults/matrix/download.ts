import { once } from 'node:events';
import { get } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { stackAddress } from '../../support/stack-address.ts';
import { readExport } from '../service.ts';

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
    [response] = (await once(request, 'response')) as [Parameters<typeof readExport>[0]];
  } catch {
    return { status: 0, complete: false, bytes: Buffer.alloc(0), retryAfter: undefined };
  }
  const { complete, bytes } = await readExport(response);
  const packed = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    complete,
    bytes: packed ? unpack(bytes, complete) : bytes,
    retryAfter: response.headers['retry-after'],
  };
}

/** Of a transfer that broke off, as much as can be had. @throws Error when a complete one is no gzip file */
function unpack(bytes: Buffer, complete: boolean): Buffer {
  if (bytes.length === 0 && !complete) return bytes;
  return gunzipSync(bytes, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH });
}

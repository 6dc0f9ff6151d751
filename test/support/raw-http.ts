import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { ApiResponse } from './api.ts';
import { headersOf } from './export.ts';

/**
 * A request, byte for byte. In its headers, `KEY` stands for a valid key and `OTHER` for one with a
 * wrong character.
 */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
}

/**
 * The bytes of a request. @param key replaces `KEY`; with one character changed, it replaces
 * `OTHER`
 */
function bytesOf({ method, target, headers }: RawRequest, key: string): Buffer {
  const other = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
  const filled = headers.map((line) => line.replaceAll('KEY', key).replaceAll('OTHER', other));
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...filled];

  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/**
 * Sends a request that fetch would refuse or correct, and reads its response with Node's parser.
 *
 * @param key see {@link RawRequest}
 * @throws Error when the response is incomplete or is not HTTP
 */
export async function sendRaw(service: URL, raw: RawRequest, key: string): Promise<ApiResponse> {
  const socket = connect(Number(service.port), service.hostname, () =>
    socket.write(bytesOf(raw, key)),
  );

  socket.setTimeout(60_000, () => socket.destroy(new Error('no response within a minute')));
  // What Node's client sends is dropped: it only reads.
  const reader = new Duplex({ read: () => socket.resume(), write: (_, __, done) => done() });
  socket
    .on('data', (chunk) => reader.push(chunk) || socket.pause())
    .on('end', () => reader.push(null))
    // if workerd refuses a request, it may reset the connection after the response
    .on('error', () => reader.push(null));
  const method = raw.method === 'HEAD' ? 'HEAD' : 'GET';
  const client = request({ createConnection: () => reader, method }).end();
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  const sent = await buffer(response);
  const headers = headersOf(response);
  const bytes =
    headers.get('Content-Encoding') === 'gzip' && sent.length > 0 ? gunzipSync(sent) : sent;
  return { status: response.statusCode ?? 0, headers, bytes, text: bytes.toString('utf8') };
}

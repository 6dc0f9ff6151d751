import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { ApiResponse } from './api.ts';

/** A request, byte for byte. In its headers, `KEY` stands for a valid key and `OTHER` for one with a wrong character. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The bytes of a request. @param key replaces `KEY`; with one character changed, it replaces `OTHER` */
function bytesOf({ method, target, version, headers, body }: RawRequest, key: string): Buffer {
  const other = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
  const filled = headers.map((line) => line.replaceAll('KEY', key).replaceAll('OTHER', other));
  const lines = [`${method} ${target} HTTP/${version}`, 'Host: localhost', 'Connection: close', ...filled];
  return Buffer.from(`${lines.join('\r\n')}\r\n${body === '' ? '\r\n' : body}`, 'latin1');
}

/**
 * Sends a request that fetch would refuse or correct, and reads until the service closes the connection.
 *
 * @param key see {@link RawRequest}
 * @throws Error when the response is incomplete or is not HTTP
 */
export async function sendRaw(service: URL, request: RawRequest, key: string): Promise<ApiResponse> {
  const bytes = bytesOf(request, key);
  const socket = connect(Number(service.port), service.hostname, () => socket.write(bytes));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.setTimeout(60_000, () => socket.destroy(new Error('no response within a minute')));
  // If workerd refuses a request, it may leave bytes unread, which resets the connection after the response.
  await once(socket, 'close').catch((error: unknown) => {
    if (chunks.length === 0) throw error;
  });
  return parse(Buffer.concat(chunks), request.method);
}

function parse(bytes: Buffer, method: string): ApiResponse {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3}) [\w -]+$/.exec(first)?.[1];
  if (end < 0 || status === undefined) throw new Error(`not an HTTP response: ${bytes.toString('latin1', 0, 200)}`);
  const headers = new Headers();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w-]+): ([\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not a header: ${line}`);
    headers.append(name, value);
  }
  const sent = bytes.subarray(end + 4);
  const mayHaveBody = method !== 'HEAD' && status !== '204' && status !== '304';
  const body = mayHaveBody ? bodyOf(headers, sent) : sent;
  return { status: Number(status), headers, bytes: body, text: body.toString('utf8') };
}

/** RFC 9112 section 6.3. */
function bodyOf(headers: Headers, sent: Buffer): Buffer {
  const length = headers.get('Content-Length');
  if (length !== null && sent.length !== Number(length)) throw new Error('the transfer broke off');
  const whole = headers.get('Transfer-Encoding') === 'chunked' ? withoutChunks(sent) : sent;
  return headers.get('Content-Encoding') === 'gzip' ? gunzipSync(whole) : whole;
}

/** RFC 9112 section 7.1; the last chunk is empty. */
function withoutChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = bytes.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(bytes.toString('latin1', at, start - 2), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
  throw new Error('the transfer broke off');
}

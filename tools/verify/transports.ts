import { once } from 'node:events';
import { type IncomingMessage, get as getHttp } from 'node:http';
import { type IncomingHttpHeaders, connect, constants } from 'node:http2';
import { get as getHttps } from 'node:https';
import { NotTested } from './expect.ts';

/*
 * GET requests over a given version of HTTP. fetch cannot show whether a transfer is complete: since Node.js 26 it speaks HTTP/2
 * where a service does, and ends a response that is cancelled (RST_STREAM with CANCEL) like a complete one.
 */

/** A response whose body is arriving, as it is sent. Reading it throws if the transfer breaks off. */
export interface Transfer {
  readonly status: number | undefined;
  readonly encoding: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

export async function getWithHttp1(url: URL, headers: Record<string, string>): Promise<Transfer> {
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  const [body] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  return { status: body.statusCode, encoding: body.headers['content-encoding'], body };
}

/** @throws NotTested if the service does not speak HTTP/2 */
export async function getWithHttp2(url: URL, headers: Record<string, string>): Promise<Transfer> {
  const session = connect(url.origin);
  session.on('error', () => {}); // the stream reports it too
  const stream = session.request({ ':path': url.pathname + url.search, ...headers });
  const closed = once(stream, 'close').finally(() => session.destroy());
  const [head] = (await Promise.race([once(stream, 'response'), closed]).catch(() => [])) as [IncomingHttpHeaders?];
  if (!head) throw new NotTested('the service does not speak HTTP/2');
  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    yield* stream as AsyncIterable<Uint8Array>;
    // Node.js ends a stream without an error after some codes.
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`RST_STREAM with code ${stream.rstCode}`);
  }
  return { status: Number(head[':status']), encoding: head['content-encoding'], body: body() };
}

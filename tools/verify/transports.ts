import { once } from 'node:events';
import { type IncomingMessage, get as getHttp } from 'node:http';
import { type IncomingHttpHeaders, connect, constants } from 'node:http2';
import { get as getHttps } from 'node:https';
import { type Readable, pipeline } from 'node:stream';
import { constants as zlib, createGunzip } from 'node:zlib';
import { NotTested } from './expect.ts';

/*
 * GET requests over a given version of HTTP. fetch cannot show whether a transfer is complete: since Node.js 26 it speaks HTTP/2
 * where a service does, and ends a response that is cancelled (RST_STREAM with CANCEL) like a complete one.
 */

export type Transport = 'HTTP/1.1' | 'HTTP/2';

type Headers = Readonly<Record<string, string>>;

/** Sends a request over HTTP/1.1. */
export async function fetchHttp1(url: URL, headers: Headers): Promise<Response> {
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  const [message] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  const isZipped = message.headers['content-encoding'] === 'gzip';
  // As lenient with a file that is cut as browsers are: only the transfer shows that it was aborted.
  const unzip = () => pipeline(message, createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH }), () => {});
  return responseOf(message.statusCode, message.headers, isZipped ? unzip() : message);
}

/** Sends a request over HTTP/2. @throws NotTested if the service does not speak it */
export async function fetchHttp2(url: URL, headers: Headers): Promise<Response> {
  const session = connect(url.origin);
  session.on('error', () => {}); // the stream reports it too
  const stream = session.request({ ':path': url.pathname + url.search, ...headers });
  const { ':status': status, ...head } = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.on('response', resolve);
    stream.on('error', () => {}); // followed by close
    stream.on('close', () => {
      reject(new NotTested('the service does not speak HTTP/2'));
      session.destroy();
    });
  });
  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    yield* stream as AsyncIterable<Uint8Array>;
    // Node.js ends a stream without an error after some codes.
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`RST_STREAM with code ${stream.rstCode}`);
  }
  return responseOf(Number(status), head, body());
}

function responseOf(status = 0, headers: IncomingHttpHeaders, body: Readable | AsyncIterable<Uint8Array>): Response {
  const fields = Object.entries(headers) as [string, string][]; // without the symbols that Node.js adds for HTTP/2
  return new Response(ReadableStream.from(body), { status, headers: fields });
}

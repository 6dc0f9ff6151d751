import { once } from 'node:events';
import { type IncomingMessage, get as getHttp } from 'node:http';
import { type IncomingHttpHeaders, connect, constants } from 'node:http2';
import { get as getHttps } from 'node:https';
import { NotTested } from './expect.ts';

/*
 * GET requests over a given version of HTTP. fetch cannot show whether a transfer is complete: since Node.js 26 it speaks HTTP/2
 * where a service does, and ends a response that is cancelled (RST_STREAM with CANCEL) like a complete one.
 */

export type Transport = 'HTTP/1.1' | 'HTTP/2';

/** A response whose body is arriving, as it is sent. Reading it throws if the transfer breaks off. */
interface Transfer {
  readonly status: number | undefined;
  readonly isZipped: boolean;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends a request. The one for HTTP/2 throws NotTested if the service does not speak it. */
export const TRANSPORTS: Record<Transport, (url: URL, headers: Record<string, string>) => Promise<Transfer>> = {
  'HTTP/1.1': async (url, headers) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const [message] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
    return transferOf(message.statusCode, message.headers, message);
  },
  'HTTP/2': async (url, headers) => {
    const session = connect(url.origin);
    session.on('error', () => {}); // the stream reports it too
    const stream = session.request({ ':path': url.pathname + url.search, ...headers });
    const head = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
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
    return transferOf(Number(head[':status']), head, body());
  },
};

const transferOf = (
  status: number | undefined,
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Uint8Array>,
): Transfer => ({ status, isZipped: headers['content-encoding'] === 'gzip', body });

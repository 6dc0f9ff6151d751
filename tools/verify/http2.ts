import { type IncomingHttpHeaders, connect, constants } from 'node:http2';
import { NotTested } from './expect.ts';

/** Sends a GET request over HTTP/2, which fetch does not speak. @throws NotTested if the service does not either */
export async function fetchHttp2(url: URL, headers: Readonly<Record<string, string>>): Promise<Response> {
  const session = connect(url.origin);
  session.on('error', () => {}); // its stream reports it
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
  const fields = Object.entries(head) as [string, string][]; // without the symbols that Node.js adds
  return new Response(ReadableStream.from(body()), { status: Number(status), headers: fields });
}

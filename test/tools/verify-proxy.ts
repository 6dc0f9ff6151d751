import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request as forward,
} from 'node:http';
import { constants, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request, which a fault may change. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
}

/** The response to it, which a fault may change. */
export interface Received {
  status: number;
  readonly headers: IncomingHttpHeaders;
  body: Buffer;
  /** Whether the connection breaks after the body, which then is not the end of the response. */
  isBroken?: boolean;
}

type Change = (received: Received) => void;

/** What is wrong with a service. Changes a request; what it returns changes the response. */
export type Fault = (sent: Sent) => Change | void | Promise<Change>;

/** Headers of a connection. The proxy sends each body in one piece, and HTTP/2 has none of them. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * A proxy in front of a service, with one fault at a time, until this process ends. It speaks
 * HTTP/1.1 and, without TLS, HTTP/2.
 */
export async function startProxy(target: string) {
  let fault: Fault = () => {};

  /** @param breakOff called after the body of a response that is broken */
  async function pass(
    request: IncomingMessage,
    response: ServerResponse,
    breakOff: () => void,
  ): Promise<void> {
    const { method = '' } = request;
    const url = new URL(request.url ?? '', target);
    const given = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'));
    const sent = { method, url, headers: { ...Object.fromEntries(given), host: url.host } };
    const change = await fault(sent);

    const [upstream] = (await once(forward(url, sent).end(), 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers } = upstream;
    for (const name of OF_CONNECTION) delete headers[name];
    const received: Received = { status, headers, body: await buffer(upstream) };
    change?.(received);

    if (method !== 'HEAD') delete headers['content-length'];
    response.writeHead(received.status, headers);
    if (received.isBroken) response.write(received.body, breakOff);
    else response.end(received.body);
  }

  const http1 = createServer((request, response) => {
    void pass(request, response, () => response.socket?.destroySoon());
  });
  // The types of its requests and responses differ from those of HTTP/1.1 in what is not used here.
  const http2 = createHttp2Server((request, response) => {
    const breakOff = () => response.stream.close(constants.NGHTTP2_CANCEL);
    void pass(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
      breakOff,
    );
  });
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('readable', () => {
      const first = (socket.read() ?? Buffer.alloc(0)) as Buffer;
      socket.unshift(first);
      const isHttp2 = first.toString('latin1').startsWith('PRI ');
      (isHttp2 ? http2 : http1).emit('connection', socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Injects a fault, or none. */
    inject(next: Fault = () => {}): void {
      fault = next;
    },
  };
}

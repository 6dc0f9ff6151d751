import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request as forward,
} from 'node:http';
import { type Http2ServerResponse, constants, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, type Socket, createServer as createTcpServer } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request and its response, which a fault may change. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly requestBody: string;
  status: number;
  readonly headers: IncomingHttpHeaders;
  body: Buffer;
  /** Breaks the connection after so many bytes of the body. */
  breakAfter?: number;
}

/** What is wrong with a service. */
export interface Fault {
  /** Called before a request is forwarded; may change its headers and the parameters of its URL. */
  readonly onRequest?: (request: { url: URL; headers: IncomingHttpHeaders; method: string }) => void;
  /** Called before a response is passed back. Without it, responses are passed on as they arrive. */
  readonly onResponse?: (exchange: Exchange) => void;
  /** A transfer that breaks off ends like a complete one, with these bytes. Only without `onResponse`. */
  readonly endOfBroken?: Uint8Array;
}

/** Headers of a connection, which HTTP/2 does not have. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

/** A proxy in front of a service, with one fault at a time. It speaks HTTP/1.1 and, without TLS, HTTP/2. */
export async function startProxy(target: string) {
  let fault: Fault = {};

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { onRequest, onResponse, endOfBroken } = fault;
    const requestBody = await buffer(request);
    const method = request.method ?? '';
    const url = new URL(request.url ?? '', target);
    const requestHeaders = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !name.startsWith(':')),
    );
    const sent = { url, method, headers: { ...requestHeaders, host: url.host } };
    onRequest?.(sent);
    const onward = forward(url, { method, headers: sent.headers });
    response.on('close', () => onward.destroy());
    onward.end(requestBody);
    const [upstream] = (await once(onward, 'response')) as [IncomingMessage];
    const { headers } = upstream;
    if (request.httpVersionMajor === 2) for (const name of OF_CONNECTION) delete headers[name];
    if (!onResponse) {
      response.writeHead(upstream.statusCode ?? 0, headers);
      try {
        for await (const chunk of upstream) if (!response.write(chunk)) await once(response, 'drain');
      } catch (error) {
        if (!endOfBroken) throw error;
        response.write(endOfBroken);
      }
      response.end();
      return;
    }
    const exchange: Exchange = {
      ...{ method, url, requestHeaders, requestBody: requestBody.toString(), headers },
      status: upstream.statusCode ?? 0,
      body: await buffer(upstream),
    };
    onResponse(exchange);
    const { status, body, breakAfter } = exchange;
    if (headers['content-length'] !== undefined && method !== 'HEAD') headers['content-length'] = String(body.length);
    response.writeHead(status, headers);
    if (breakAfter === undefined) response.end(body);
    else response.write(body.subarray(0, breakAfter), () => response.socket?.destroySoon());
  }

  const http1 = createServer((request, response) => {
    void pass(request, response).catch(() => response.destroy());
  });
  // The types of its requests and responses differ from those of HTTP/1.1 in what is not used here.
  const http2 = createHttp2Server((request, response: Http2ServerResponse) => {
    void pass(request as unknown as IncomingMessage, response as unknown as ServerResponse).catch(() =>
      response.stream.close(constants.NGHTTP2_CANCEL),
    );
  });
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.once('readable', () => {
      const first = (socket.read() ?? Buffer.alloc(0)) as Buffer;
      socket.unshift(first);
      const isHttp2 = first.toString('latin1').startsWith('PRI ');
      (isHttp2 ? http2 : http1).emit('connection', socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Injects a fault; none if it has no members. */
    inject(next: Fault): void {
      fault = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

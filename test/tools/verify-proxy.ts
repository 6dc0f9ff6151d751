import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
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
  /** Called before a response is passed back. */
  readonly onResponse?: (exchange: Exchange) => void;
  /** Whether the target does not notice that a client disconnects. */
  readonly hidesDisconnects?: boolean;
}

/** An HTTP proxy in front of a service, with one fault at a time. */
export async function startProxy(target: string) {
  let fault: Fault = {};
  const server = createServer((request, response) => {
    void (async () => {
      const requestBody = await buffer(request);
      const method = request.method ?? '';
      const url = new URL(request.url ?? '', target);
      const sent = { url, method, headers: { ...request.headers, host: url.host } };
      fault.onRequest?.(sent);
      const onward = forward(url, { method, headers: sent.headers });
      if (!fault.hidesDisconnects) response.on('close', () => onward.destroy());
      onward.end(requestBody);
      const [upstream] = (await once(onward, 'response')) as [IncomingMessage];
      const exchange: Exchange = {
        method,
        url,
        requestHeaders: request.headers,
        requestBody: requestBody.toString(),
        status: upstream.statusCode ?? 0,
        headers: upstream.headers,
        body: await buffer(upstream),
      };
      fault.onResponse?.(exchange);
      const { status, headers, body, breakAfter } = exchange;
      if (headers['content-length'] !== undefined && method !== 'HEAD') headers['content-length'] = String(body.length);
      response.writeHead(status, headers);
      if (breakAfter === undefined) response.end(body);
      else response.write(body.subarray(0, breakAfter), () => response.socket?.destroySoon());
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Injects a fault; none if it has no members. */
    inject(next: Fault): void {
      fault = next;
    },
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

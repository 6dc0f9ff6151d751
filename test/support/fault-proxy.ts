import { once } from 'node:events';
import {
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request as forward,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Called for each request before it is forwarded; may tamper with it or its response. */
export type Fault = (exchange: Exchange) => Promise<void> | void;

/** A request, and the ways to tamper with it. If a fault calls none of them, the request passes. */
export type Exchange = ReturnType<typeof exchangeOf>;

/** Changes to a request and its response. */
interface Changes {
  isForwarded: boolean;
  maxBytes: number;
  /** Takes the whole body of a response. */
  alter?: (body: Buffer, status: number) => Buffer | string | Promise<Buffer | string>;
  /** What the connection waits for before it breaks after the body. */
  breaksAfter?: Promise<unknown>;
  params?: readonly unknown[];
}

function exchangeOf(
  index: number,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  changes: Changes,
) {
  const sql =
    body.length > 0 ? (JSON.parse(body.toString()) as { query?: string; params?: unknown[] }) : {};
  const instead = (action: () => void) => {
    changes.isForwarded = false;
    action();
  };

  return {
    /** Number of requests before this one since the faults were set, or in its trial. */
    index,
    method: request.method ?? '',
    path: request.url ?? '',
    /** Resolves when the response has been sent, or the client has disconnected. */
    closed: new Promise<void>((resolve) => void response.on('close', resolve)),
    /** The SQL and its parameters, where the request has them. */
    query: sql.query ?? '',
    params: sql.params ?? [],
    /** Responds in place of the target. */
    reply(
      status: number,
      content: string | Buffer,
      headers: Readonly<Record<string, string>> = {},
    ): void {
      instead(() => response.writeHead(status, headers).end(content));
    },
    /** Resets the connection before the first byte of a response. */
    reset: (): void => instead(() => response.socket?.resetAndDestroy()),
    /** Never responds. */
    hang: (): void => instead(() => {}),
    /**
     * Breaks the connection after so many bytes of the response's body.
     *
     * @param cut the number, or computes it from the body
     * @param received the connection stays open until this resolves; a browser can drop bytes that
     * arrive together with the break
     */
    cutAfter(
      cut: number | ((body: Buffer) => number),
      received: Promise<unknown> = Promise.resolve(),
    ): void {
      changes.alter = (whole) => {
        const length = typeof cut === 'function' ? cut(whole) : cut;
        if (length < whole.length) changes.breaksAfter = received;
        return whole.subarray(0, length);
      };
    },
    /**
     * Replaces the body of a response with status 200, which waits for it; it still ends as if it
     * were complete.
     */
    change(change: (body: Buffer) => Buffer | string | Promise<Buffer | string>): void {
      changes.alter = (whole, status) => (status === 200 ? change(whole) : whole);
    },
    /** Replaces the parameters of the SQL on its way to the target. */
    replaceParams: (params: readonly unknown[]): void => void (changes.params = params),
    /** Responds 507 in place of a longer response, as the SQL endpoint does above its limit. */
    refuseLonger: (maxBytes: number): void => void (changes.maxBytes = maxBytes),
  };
}

/** Requests that are counted together. */
interface Watch {
  readonly fault: Fault | undefined;
  requests: number;
  /** Those that are not about a key, whose use is noted every 15 minutes. */
  dataRequests: number;
}

const newWatch = (fault?: Fault): Watch => ({ fault, requests: 0, dataRequests: 0 });

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/**
 * Starts an HTTP proxy that injects faults, in front of the SQL-over-HTTP endpoint or of the
 * service.
 *
 * @param target URL of the server that the proxy is in front of
 */
export async function startFaultProxy(target: string) {
  let all = newWatch();
  let abandoned = 0;
  const trials = new Map<string, Watch>();

  // As the gateway's: longer than the Worker keeps an idle connection, so that it sends no request
  // on one that is being closed, which it would have to send again.
  const server = createServer(
    { keepAliveTimeout: 75_000 },
    (request, response) => void handle(request, response),
  );
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // the client disconnected before all of it had arrived
    response.on('close', () => {
      if (!response.writableFinished) abandoned++;
    });

    const changes: Changes = { isForwarded: true, maxBytes: Infinity };
    const watch = trials.get(String(request.headers['trial'] ?? '')) ?? all;
    if (!body.includes('api_key')) watch.dataRequests++;
    const exchange = exchangeOf(watch.requests++, request, body, response, changes);
    await watch.fault?.(exchange);
    const { isForwarded, params } = changes;
    const sent = params
      ? Buffer.from(JSON.stringify({ ...(JSON.parse(body.toString()) as object), params }))
      : body;
    if (isForwarded) forwardRequest(request, sent, response, changes);
  }

  function forwardRequest(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    changes: Changes,
  ): void {
    const headers = { ...request.headers };
    if (changes.params) headers['content-length'] = String(body.length);
    if (changes.alter) delete headers['accept-encoding']; // changes are made to plain bodies
    const url = new URL(request.url ?? '', target);
    const onward = forward(url, { method: request.method, headers }, (upstream) => {
      void passBack(upstream, response, changes).catch(() => response.destroy());
    });

    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { pathname } = new URL(target);
  return {
    /** The target's URL with the proxy's origin. */
    url: `http://127.0.0.1:${port}${pathname}`,
    /** Sets the fault for all requests from now on; none if undefined. */
    inject(fault?: Fault): void {
      all = newWatch(fault);
      abandoned = 0;
    },
    /**
     * Sets the fault for the requests of one trial, which worker-under-faults.ts marks. Others can
     * run at the same time and are counted separately. Dispose of it to end the trial.
     */
    watch(trial: string, fault?: Fault): { readonly requests: number } & Disposable {
      const watch = newWatch(fault);
      trials.set(trial, watch);
      return Object.assign(watch, { [Symbol.dispose]: () => void trials.delete(trial) });
    },
    /** Requests that have arrived since {@link inject} was last called. */
    get requests(): number {
      return all.requests;
    },
    /** Likewise, of those that are not about a key. */
    get dataRequests(): number {
      return all.dataRequests;
    },
    /** Requests whose client disconnected before the response was complete. */
    get abandoned(): number {
      return abandoned;
    },
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function passBack(
  upstream: IncomingMessage,
  response: ServerResponse,
  changes: Changes,
): Promise<void> {
  const { maxBytes, alter } = changes;
  const { statusCode: status = 500, headers } = upstream;
  if (Number(headers['content-length']) > maxBytes) {
    upstream.resume();
    response.writeHead(507).end(`response is too large (max is ${maxBytes} bytes)`);
    return;
  }

  if (!alter) {
    response.writeHead(status, headers);
    await pipeline(upstream, response);
    return;
  }

  const bytes = await alter(await buffer(upstream), status);
  if (!changes.breaksAfter) {
    delete headers['content-length'];
    response.writeHead(status, headers).end(bytes);
    return;
  }

  response.writeHead(status, headers).flushHeaders();
  // Node drops what it has not yet written when the connection is closed.
  if (bytes.length > 0) await new Promise((resolve) => response.write(bytes, resolve));
  await changes.breaksAfter;
  response.socket?.destroySoon();
}

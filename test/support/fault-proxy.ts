import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Called for each request before it is forwarded; may tamper with it or its response. */
export type Fault = (exchange: Exchange) => Promise<void> | void;

/** A request, and the ways to tamper with it. If a fault calls none of them, the request passes. */
export interface Exchange {
  /** Number of requests before this one since the faults were set, or in its trial. */
  readonly index: number;
  readonly method: string;
  /** Resolves when the response has been sent, or the client has disconnected. */
  readonly closed: Promise<void>;
  /** The SQL and its parameters, where the request has them. */
  readonly query: string;
  readonly params: unknown[];
  /** Responds in place of the target. */
  reply(status: number, body: string | Buffer, headers?: Readonly<Record<string, string>>): void;
  /** Resets the connection before the first byte of a response. */
  reset(): void;
  /** Never responds. */
  hang(): void;
  /**
   * Breaks the connection after so many bytes of the response's body.
   *
   * @param bytes the number, or computes it from the body
   * @param received the connection stays open until this resolves; a browser can drop bytes that arrive together with the break
   */
  cutAfter(bytes: number | ((body: Buffer) => number), received?: Promise<unknown>): void;
  /** Replaces the body of a response with status 200; it still ends as if it were complete. */
  change(how: Change): void;
  /** Replaces the parameters of the SQL on its way to the target. */
  replaceParams(params: readonly unknown[]): void;
  /** Responds 507 in place of a longer response, as the SQL endpoint does above its limit. */
  refuseLonger(bytes: number): void;
}

/** Computes the body to send instead. The response waits for it. */
export type Change = (body: Buffer) => Buffer | string | Promise<Buffer | string>;

/** Changes to a request and its response. */
interface Changes {
  maxBytes: number;
  cut?: number | ((body: Buffer) => number);
  received?: Promise<unknown> | undefined;
  change?: Change;
  params?: readonly unknown[];
}

/** Requests that are counted together. */
interface Watch {
  readonly fault: Fault | undefined;
  requests: number;
}

/** An HTTP proxy that injects faults, in front of the SQL-over-HTTP endpoint or of the service. */
export interface FaultProxy {
  /** The target's URL with the proxy's origin. */
  readonly url: string;
  /** Sets the fault for all requests from now on; none if undefined. */
  inject(fault?: Fault): void;
  /**
   * Sets the fault for the requests of one trial, which worker-under-faults.ts marks. Others can run at the same time and
   * are counted separately. Dispose of it to end the trial.
   */
  watch(trial: string, fault?: Fault): { readonly requests: number } & Disposable;
  /** Requests that have arrived since {@link inject} was last called. */
  readonly requests: number;
  /** Requests whose client disconnected before the response was complete. */
  readonly abandoned: number;
  close(): Promise<void>;
}

/** @param target URL of the server that the proxy is in front of */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let all: Watch = { fault: undefined, requests: 0 };
  let abandoned = 0;
  const trials = new Map<string, Watch>();

  const server = createServer((request, response) => void handle(request, response));
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // the client disconnected before all of it had arrived
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    response.on('close', () => {
      if (!response.writableFinished) abandoned++;
      resolve();
    });

    const sql = body.length > 0 ? (JSON.parse(body.toString()) as { query?: string; params?: unknown[] }) : {};
    const changes: Changes = { maxBytes: Infinity };
    let isForwarded = true;
    const instead = (action: () => void) => {
      isForwarded = false;
      action();
    };
    const watch = trials.get(trialOf(request) ?? '') ?? all;
    const index = watch.requests++;
    await watch.fault?.({
      index,
      method: request.method ?? '',
      closed,
      query: sql.query ?? '',
      params: sql.params ?? [],
      reply: (status, reply, headers = {}) => instead(() => response.writeHead(status, headers).end(reply)),
      reset: () => instead(() => response.socket?.resetAndDestroy()),
      hang: () => instead(() => {}),
      cutAfter: (bytes, received) => Object.assign(changes, { cut: bytes, received }),
      change: (how) => (changes.change = how),
      replaceParams: (params) => (changes.params = params),
      refuseLonger: (bytes) => (changes.maxBytes = bytes),
    });
    const { params } = changes;
    const sent = params ? Buffer.from(JSON.stringify({ ...sql, params })) : body;
    if (isForwarded) forwardRequest(request, sent, response, changes);
  }

  function forwardRequest(request: IncomingMessage, body: Buffer, response: ServerResponse, changes: Changes): void {
    const headers = { ...request.headers };
    if (changes.params) headers['content-length'] = String(body.length);
    if (changes.cut !== undefined || changes.change) delete headers['accept-encoding']; // changes are made to plain bodies
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
    url: `http://127.0.0.1:${port}${pathname}`,
    inject(fault) {
      all = { fault, requests: 0 };
      abandoned = 0;
    },
    watch(trial, fault) {
      const watch: Watch = { fault, requests: 0 };
      trials.set(trial, watch);
      return {
        get requests() {
          return watch.requests;
        },
        [Symbol.dispose]: () => void trials.delete(trial),
      };
    },
    get requests() {
      return all.requests;
    },
    get abandoned() {
      return abandoned;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The trial named by a request's connection string. */
function trialOf({ headers }: IncomingMessage): string | null | undefined {
  return URL.parse(String(headers['neon-connection-string']))?.searchParams.get('application_name');
}

async function passBack(upstream: IncomingMessage, response: ServerResponse, changes: Changes): Promise<void> {
  const { maxBytes, cut } = changes;
  const status = upstream.statusCode ?? 500;
  const change = status === 200 ? changes.change : undefined;
  if (Number(upstream.headers['content-length']) > maxBytes) {
    upstream.resume();
    response.writeHead(507).end(`response is too large (max is ${maxBytes} bytes)`);
    return;
  }
  if (cut === undefined && !change) {
    response.writeHead(status, upstream.headers);
    await pipeline(upstream, response);
    return;
  }
  const body = await buffer(upstream);
  if (change) {
    const { 'content-length': _, ...headers } = upstream.headers;
    response.writeHead(status, headers).end(await change(body));
    return;
  }
  const bytes = typeof cut === 'function' ? cut(body) : (cut ?? Infinity);
  response.writeHead(status, upstream.headers);
  if (bytes >= body.length) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  if (bytes > 0) response.write(body.subarray(0, bytes));
  await changes.received;
  response.socket?.destroySoon(); // after what was written has been sent
}

import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** What happens to a GET request. */
export type Fault =
  | 'nothing'
  /** The connection breaks off behind so many bytes of the body. */
  | { readonly cutAfter: number }
  /** The body is only so many bytes long, and ends as if it were complete. */
  | { readonly shortenTo: number }
  /** The service is busy. */
  | { readonly busy: 429 | 503; readonly retryAfter: number };

/** Stands between a recipe and the service. */
export interface SpoilingProxy {
  readonly origin: string;
  /** Sets what happens to the next GET requests, one after the other; those behind them pass. */
  inject(faults: readonly Fault[]): void;
  /** GET requests since then. */
  readonly requests: number;
  close(): Promise<void>;
}

export async function startSpoilingProxy(target: string): Promise<SpoilingProxy> {
  let faults: readonly Fault[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    const fault = request.method === 'GET' ? (faults[requests++] ?? 'nothing') : 'nothing';
    if (typeof fault === 'object' && 'busy' in fault) {
      request.resume();
      response.writeHead(fault.busy, { 'Retry-After': fault.retryAfter }).end('{"error":{"message":"busy"}}');
      return;
    }
    const headers = { ...request.headers };
    if (typeof fault === 'object') delete headers['accept-encoding']; // faults count the bytes of the file itself
    const upstream = forward(`${target}${request.url}`, { method: request.method, headers });
    upstream.on('response', (answer) => void pass(answer, response, fault).catch(() => response.destroy()));
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inject(next) {
      faults = next;
      requests = 0;
    },
    get requests() {
      return requests;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function pass(answer: IncomingMessage, response: ServerResponse, fault: Exclude<Fault, { busy: number }>) {
  const limit = typeof fault === 'string' ? Infinity : 'cutAfter' in fault ? fault.cutAfter : fault.shortenTo;
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  if (limit === Infinity) {
    await pipeline(answer, response);
    return;
  }
  let left = limit;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (left > 0) response.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) break;
  }
  if (typeof fault === 'object' && 'cutAfter' in fault) response.socket?.end();
  else response.end();
}

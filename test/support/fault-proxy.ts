import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What the proxy does with a request; called before it is passed on. */
export type Fault = (exchange: Exchange) => Promise<void> | void;

/** A request on its way, and the ways to spoil it. A fault that does none of them lets it pass. */
export interface Exchange {
  /** Counted from 0 since the faults were last set, or among the requests of its trial. */
  readonly index: number;
  readonly query: string;
  readonly params: unknown[];
  /** Answers instead of the endpoint. */
  reply(status: number, body: string): void;
  /** Closes the connection before a byte of an answer. */
  reset(): void;
  /** Passes the request on, but the answer's body breaks off after so many bytes. @param bytes or how many, of its body */
  cutAfter(bytes: number | ((body: Buffer) => number)): void;
  /** Passes the request on, and an answer of status 200 with another body. */
  change(how: (body: Buffer) => Buffer | string): void;
  /** Passes the request on, and refuses an answer that is longer, as the endpoint does beyond its own limit. */
  refuseLonger(bytes: number): void;
  /** Never answers, until the client goes away. */
  hang(): void;
}

/** What becomes of an answer on its way back. */
interface Change {
  most: number;
  cut?: number | ((body: Buffer) => number);
  how?: (body: Buffer) => Buffer | string;
}

/** Requests that are counted together. */
interface Watch {
  readonly fault: Fault | undefined;
  requests: number;
}

/** Stands between the Worker and the SQL-over-HTTP endpoint. */
export interface FaultProxy {
  readonly url: string;
  /** Sets what goes wrong from now on; nothing when not given. */
  inject(fault?: Fault): void;
  /**
   * Sets what goes wrong with the requests of one trial alone, which worker-under-faults.ts marks: others may go on
   * beside it, and are counted apart. It ends when it is disposed of.
   */
  watch(trial: string, fault?: Fault): { readonly requests: number } & Disposable;
  /** Requests since {@link inject} was last called. */
  readonly requests: number;
  /** Requests whose client went away before the answer was complete. */
  readonly abandoned: number;
  close(): Promise<void>;
}

export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  let all: Watch = { fault: undefined, requests: 0 };
  let abandoned = 0;
  const trials = new Map<string, Watch>();

  const server = createServer((request, response) => void handle(request, response));
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    response.on('close', () => {
      if (!response.writableFinished) abandoned++;
    });

    const { query, params = [] } = JSON.parse(body.toString()) as { query: string; params?: unknown[] };
    const change: Change = { most: Infinity };
    let spoilt = false;
    const spoil = (how: () => void) => {
      spoilt = true;
      how();
    };
    const watch = trials.get(trialOf(request) ?? '') ?? all;
    const index = watch.requests++;
    await watch.fault?.({
      index,
      query,
      params,
      reply: (status, reply) => spoil(() => response.writeHead(status).end(reply)),
      reset: () => spoil(() => response.socket?.resetAndDestroy()),
      hang: () => spoil(() => {}),
      cutAfter: (bytes) => (change.cut = bytes),
      change: (how) => (change.how = how),
      refuseLonger: (bytes) => (change.most = bytes),
    });
    if (!spoilt) passOn(request, body, response, change);
  }

  function passOn(request: IncomingMessage, body: Buffer, response: ServerResponse, change: Change): void {
    const onward = forward(endpoint, { method: 'POST', headers: request.headers }, (answer) => {
      void passBack(answer, response, change).catch(() => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/sql`,
    inject(next) {
      all = { fault: next, requests: 0 };
      abandoned = 0;
    },
    watch(trial, next) {
      const watch: Watch = { fault: next, requests: 0 };
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

/** The trial that a request's connection string names. */
function trialOf({ headers }: IncomingMessage): string | null | undefined {
  return URL.parse(String(headers['neon-connection-string']))?.searchParams.get('application_name');
}

async function passBack(answer: IncomingMessage, response: ServerResponse, change: Change): Promise<void> {
  const { most, cut, how } = change;
  const status = answer.statusCode ?? 500;
  if (Number(answer.headers['content-length']) > most) {
    answer.resume();
    response.writeHead(507).end(`response is too large (max is ${most} bytes)`);
    return;
  }
  if (cut === undefined && (!how || status !== 200)) {
    response.writeHead(status, answer.headers);
    answer.on('data', (chunk) => response.write(chunk));
    answer.on('end', () => response.end());
    return;
  }
  const whole = await buffer(answer);
  if (how && status === 200) {
    response.writeHead(200).end(how(whole));
    return;
  }
  const bytes = typeof cut === 'function' ? cut(whole) : (cut ?? Infinity);
  response.writeHead(status, answer.headers);
  if (bytes >= whole.length) {
    response.end(whole);
    return;
  }
  response.flushHeaders();
  if (bytes > 0) response.write(whole.subarray(0, bytes));
  response.socket?.destroySoon(); // once what was written has gone
}

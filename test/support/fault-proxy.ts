import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request as forward } from 'node:http';
import { text } from 'node:stream/consumers';

/** What the proxy does with a request; called before it is passed on. */
export type Fault = (exchange: Exchange) => Promise<void> | void;

/** A request on its way, and the ways to spoil it. A fault that does none of them lets it pass. */
export interface Exchange {
  /** Counted from 0 since the faults were last set. */
  readonly index: number;
  readonly query: string;
  readonly params: unknown[];
  /** Answers instead of the endpoint. */
  reply(status: number, body: string): void;
  /** Closes the connection before a byte of an answer. */
  reset(): void;
  /** Passes the request on, but the answer's body breaks off after so many bytes. @param bytes or how many, of its length */
  cutAfter(bytes: number | ((length: number) => number)): void;
  /** Passes the request on, and an answer of status 200 with another body. */
  change(how: (body: string) => string): void;
  /** Never answers, until the client goes away. */
  hang(): void;
}

/** What becomes of an answer on its way back. */
interface Change {
  cut: number | ((length: number) => number);
  how?: (body: string) => string;
}

/** Stands between the Worker and the SQL-over-HTTP endpoint. */
export interface FaultProxy {
  readonly url: string;
  /** Sets what goes wrong from now on; nothing when not given. */
  inject(fault?: Fault): void;
  /** Requests since {@link inject} was last called. */
  readonly requests: number;
  /** Requests whose client went away before the answer was complete. */
  readonly abandoned: number;
  close(): Promise<void>;
}

export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  let fault: Fault | undefined;
  let requests = 0;
  let abandoned = 0;

  const server = createServer((request, response) => void handle(request, response));
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    response.on('close', () => {
      if (!response.writableFinished) abandoned++;
    });

    const { query, params = [] } = JSON.parse(body.toString()) as { query: string; params?: unknown[] };
    const change: Change = { cut: Infinity };
    let spoilt = false;
    const spoil = (how: () => void) => {
      spoilt = true;
      how();
    };
    const index = requests++;
    await fault?.({
      index,
      query,
      params,
      reply: (status, reply) => spoil(() => response.writeHead(status).end(reply)),
      reset: () => spoil(() => response.socket?.resetAndDestroy()),
      hang: () => spoil(() => {}),
      cutAfter: (bytes) => (change.cut = bytes),
      change: (how) => (change.how = how),
    });
    if (!spoilt) passOn(request, body, response, change);
  }

  function passOn(request: IncomingMessage, body: Buffer, response: ServerResponse, { cut, how }: Change): void {
    const onward = forward(endpoint, { method: 'POST', headers: request.headers }, (answer) => {
      if (how && answer.statusCode === 200) {
        void text(answer).then((whole) => response.writeHead(200).end(how(whole)));
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      let left = typeof cut === 'number' ? cut : cut(Number(answer.headers['content-length']));
      answer.on('data', (chunk: Buffer) => {
        if (chunk.length < left) response.write(chunk);
        else if (left > 0) response.write(chunk.subarray(0, left), () => response.socket?.destroy());
        left -= chunk.length;
      });
      answer.on('end', () => {
        if (left > 0) response.end();
      });
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
      fault = next;
      requests = abandoned = 0;
    },
    get requests() {
      return requests;
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

import { once } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '../command.ts';
import { printable } from '../keys/printable.ts';
import { Mismatch, expectThat } from './expect.ts';

/** Every path under it needs a key. */
export const API = '/api/v1';

/** The service gives up after 60 s at most. A body may pause for as long, while the service retries a query. */
const SILENCE_MS = 75_000;
const SILENCE = `nothing arrived for ${SILENCE_MS / 1000} s`;
/** For responses with status 429, whose `Retry-After` is respected. */
const MAX_ATTEMPTS = 5;
const DEFAULT_RETRY_SECONDS = 10;
/** A JSON body that is read into memory. A page is smaller. */
const MAX_JSON_BYTES = 512 * 1024 * 1024;

export interface RequestOptions {
  readonly method?: string;
  /** Sent as bearer token; null sends none. By default, the client's. */
  readonly key?: string | null;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response whose body has not been read. */
export interface Reply {
  readonly status: number;
  /** The path and method, for messages. */
  readonly request: string;
  /** The value of a header, repeated ones joined by commas. */
  readonly header: (name: string) => string | undefined;
  /**
   * The body, decompressed.
   *
   * @throws Mismatch if the transfer breaks off or pauses for too long
   */
  readonly body: () => AsyncIterable<Buffer>;
}

/** A response with a short body. */
export interface TextReply extends Reply {
  readonly text: string;
}

/** Sends requests to a service, and remembers the headers of every response. */
export class Client {
  /** All responses so far, except those with status 429. */
  readonly seen: Reply[] = [];
  /** Milliseconds from each request to its response headers. */
  readonly roundTrips: number[] = [];
  /** Bytes of all bodies so far, as received. */
  receivedBytes = 0;
  readonly #origin: string;
  readonly #key: string | undefined;
  readonly #agent: HttpAgent;

  /** @param origin without a trailing slash */
  constructor(origin: string, key: string | undefined) {
    this.#origin = origin;
    this.#key = key;
    this.#agent = new (origin.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** Ends idle connections. */
  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request, again after `Retry-After` while the status is 429.
   *
   * @param path after the origin
   * @throws Mismatch if there is no response
   */
  async send(path: string, options: RequestOptions = {}): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const reception = await this.#sendOnce(path, options);
      const { response } = reception;
      if (response.statusCode !== 429 || attempt === MAX_ATTEMPTS) {
        const reply = this.#reply(`${options.method ?? 'GET'} ${path}`, reception);
        this.seen.push(reply);
        return reply;
      }
      response.resume();
      await sleep(1000 * Number(response.headers['retry-after'] ?? DEFAULT_RETRY_SECONDS));
    }
  }

  /** Sends a request and reads its body. */
  async get(path: string, options: RequestOptions = {}): Promise<TextReply> {
    const reply = await this.send(path, options);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of reply.body()) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_JSON_BYTES) throw new Mismatch(`${reply.request}: the body is larger than any page can be`);
    }
    return { ...reply, text: Buffer.concat(chunks).toString('utf8') };
  }

  async #sendOnce(path: string, { method = 'GET', key, query = {}, headers = {} }: RequestOptions): Promise<Reception> {
    const url = new URL(this.#origin + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const token = key === undefined ? this.#key : key;
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const started = performance.now();
    const request = send(url, {
      method,
      agent: this.#agent,
      timeout: SILENCE_MS,
      headers: { ...(token === null || token === undefined ? {} : { Authorization: `Bearer ${token}` }), ...headers },
    });
    const silence = new AbortController();
    request.on('timeout', () => {
      silence.abort();
      request.destroy(new Error(SILENCE));
    });
    request.end();
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      this.roundTrips.push(performance.now() - started);
      return { response, silence: silence.signal };
    } catch (error) {
      throw new Mismatch(`${method} ${path}: no response: ${reasonOf(error)}`, { cause: error });
    }
  }

  #reply(request: string, { response, silence }: Reception): Reply {
    const count = (bytes: number) => (this.receivedBytes += bytes);
    return {
      status: response.statusCode ?? 0,
      request,
      header: (name) => {
        const value = response.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      async *body() {
        let received = 0;
        async function* arriving(): AsyncGenerator<Buffer, void, void> {
          for await (const chunk of response as AsyncIterable<Buffer>) {
            received += chunk.length;
            count(chunk.length);
            yield chunk;
          }
        }
        const isZipped = response.headers['content-encoding'] === 'gzip';
        try {
          yield* isZipped ? gunzipped(arriving()) : arriving();
        } catch (error) {
          const reason = silence.aborted ? SILENCE : reasonOf(error);
          throw new Mismatch(`${request}: the transfer broke off after ${received} bytes: ${reason}`, { cause: error });
        }
      },
    };
  }
}

/** A response, and a signal that is aborted when nothing arrives for too long. */
interface Reception {
  readonly response: IncomingMessage;
  readonly silence: AbortSignal;
}

async function* gunzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const plain = createGunzip();
  const done = pipeline(chunks, plain).catch((error: unknown) => plain.destroy(error as Error));
  yield* plain as AsyncIterable<Buffer>;
  await done;
}

/** The JSON of a response. @throws Mismatch unless it is JSON and declared as such */
export function jsonOf({ request, header, text }: TextReply): unknown {
  const type = header('Content-Type') ?? 'missing';
  expectThat(
    /^application\/json\b/.test(type),
    `${request}: Content-Type is ${quoted(type)}, the body ${quoted(text)}`,
  );
  try {
    return JSON.parse(text);
  } catch {
    throw new Mismatch(`${request}: the body is not JSON: ${quoted(text)}`);
  }
}

/** The beginning of a text in one line, for messages. */
export function quoted(text: string): string {
  return JSON.stringify(printable(text.length > 200 ? `${text.slice(0, 200)}…` : text));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../command.ts';
import { Mismatch } from './expect.ts';
import { type Transport, fetchHttp1, fetchHttp2 } from './transports.ts';

/** Every path under it needs a key. */
export const API = '/api/v1';

/** For responses with status 429, whose `Retry-After` is respected. */
const MAX_ATTEMPTS = 5;

export interface RequestOptions {
  readonly method?: string;
  /** Sent as bearer token; null sends none. By default, the client's. */
  readonly key?: string | null | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for GET. By default, what fetch and the service agree on. */
  readonly transport?: Transport;
}

/** Sends requests to a service, and remembers its responses. */
export class Client {
  /** All responses so far, except those with status 429. */
  readonly seen: { readonly path: string; readonly response: Response }[] = [];
  readonly #origin: string;
  readonly #key: string | undefined;

  /** @param origin without a trailing slash */
  constructor(origin: string, key: string | undefined) {
    this.#origin = origin;
    this.#key = key;
  }

  /**
   * Sends a request, again after `Retry-After` while the status is 429.
   *
   * @param path after the origin
   * @throws Mismatch if there is no response, or one that is not the service's
   */
  async send(path: string, options: RequestOptions = {}, attempt = 1): Promise<Response> {
    const { method = 'GET', key = this.#key, query, transport } = options;
    const url = new URL(this.#origin + path);
    url.search = String(new URLSearchParams(query));
    const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    const fetchOver = { 'HTTP/1.1': fetchHttp1, 'HTTP/2': fetchHttp2 };
    const sent = transport ? fetchOver[transport](url, headers) : fetch(url, { method, headers, redirect: 'manual' });
    const response = await sent.catch((error: TypeError) => {
      const { cause } = error;
      throw cause === undefined ? error : new Mismatch(`${path}: no response: ${reasonOf(cause)}`, { cause });
    });
    if (response.status === 429 && attempt < MAX_ATTEMPTS) {
      await response.text();
      await sleep(1000 * Number(response.headers.get('Retry-After') ?? 10));
      return this.send(path, options, attempt + 1);
    }
    const type = response.headers.get('Content-Type') ?? 'no Content-Type';
    // The service sends neither at the paths that are requested.
    if (response.status === 403 || type.startsWith('text/html'))
      throw new Mismatch(
        `${path}: status ${response.status} with ${type} is not from the service. If Cloudflare challenges programs, turn off ` +
          'Bot Fight Mode and Browser Integrity Check for this host.',
      );
    this.seen.push({ path, response });
    return response;
  }
}

/** A transfer that a client can tell from a complete one. */
export class BrokenTransfer extends Mismatch {}

/** The body of a response, decompressed. @throws BrokenTransfer if the transfer breaks off */
export async function* bodyOf(
  { body }: Response,
  progress: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      progress((bytes += chunk.length));
      yield chunk;
    }
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error);
    throw new BrokenTransfer(`the transfer broke off after ${bytes} bytes: ${reason}`, { cause: error });
  }
}

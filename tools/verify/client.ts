import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../command.ts';
import { Mismatch } from './expect.ts';

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

  url(path: string, query: Readonly<Record<string, string>>): URL {
    const url = new URL(this.#origin + path);
    url.search = String(new URLSearchParams(query));
    return url;
  }

  /**
   * Sends a request, again after `Retry-After` while the status is 429.
   *
   * @param path after the origin
   * @throws Mismatch if there is no response, or one that is not the service's
   */
  async send(path: string, options: RequestOptions = {}, attempt = 1): Promise<Response> {
    const { method = 'GET', key = this.#key, query = {} } = options;
    const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    const sent = fetch(this.url(path, query), { method, headers, redirect: 'manual' });
    const response = await sent.catch((cause: Error) => {
      throw new Mismatch(`${path}: no response: ${reasonOf(cause.cause ?? cause)}`, { cause });
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

/** The body of a response, decompressed. @throws Mismatch if the transfer breaks off */
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
    throw new Mismatch(`the transfer broke off after ${bytes} bytes: ${reason}`, { cause: error });
  }
}

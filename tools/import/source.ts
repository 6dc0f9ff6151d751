import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, UserError } from '../command.ts';
import { printable } from '../keys/printable.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_RETRY_AFTER_S = 300;
const ATTEMPTS = 7;

/** A request that failed. */
export class SourceFailure extends UserError {
  override name = 'SourceFailure';
  /** Undefined if the transfer broke, or if the body is not as expected. */
  readonly response: Response | undefined;

  constructor(message: string, response?: Response) {
    super(message);
    this.response = response;
  }
}

export interface SourceTiming {
  /** How long a request may receive nothing, and how long it may take; milliseconds. */
  silence?: number;
  request?: number;
  /** The pause before the second attempt. It doubles up to the fifth. */
  pause?: number;
}

export type Source = ReturnType<typeof openSource>;

/**
 * A running service with the endpoints of the contract, which is not trusted.
 *
 * @param key in no message. A body that contains it is refused, since messages quote bodies.
 * @throws UserError for a URL or a key that cannot be used
 */
export function openSource(
  from: string,
  key: string,
  signal: AbortSignal,
  { silence = 120_000, request = 900_000, pause = 1_000 }: SourceTiming = {},
) {
  const base = baseUrl(from);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UserError('SURVEY_SOURCE_KEY must be set to the key for --from');

  return {
    /**
     * @param query already encoded
     * @param limit the most bytes that the body may have
     * @throws SourceFailure unless the response is 2xx and complete
     */
    async get(path: string, query = '', limit = MAX_BODY_BYTES): Promise<Buffer> {
      const silent = new AbortController();
      const abort = () => silent.abort(new Error(`nothing was sent for ${silence / 1000} s`));
      const timer = setTimeout(abort, silence);
      try {
        const response = await fetch(`${base}${path}?${query}`, {
          headers: { Authorization: `Bearer ${key}` },
          redirect: 'manual',
          signal: AbortSignal.any([signal, silent.signal, AbortSignal.timeout(request)]),
        });

        if (!response.ok) {
          await response.body?.cancel();
          throw new SourceFailure(
            `has status ${response.status} ${printable(response.statusText)}`,
            response,
          );
        }

        const chunks: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of response.body ?? []) {
          timer.refresh();
          size += chunk.length;
          if (size > limit) throw new SourceFailure('is longer than 64 MiB');
          chunks.push(chunk);
        }

        const body = Buffer.concat(chunks);
        if (body.includes(key)) throw new UserError(`${path} contains the key: it is refused`);
        return body;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UserError) throw error;
        const { cause = error } = error as Error;
        throw new SourceFailure(`broke off: ${printable(messageOf(cause))}`);
      } finally {
        clearTimeout(timer);
      }
    },

    /**
     * Makes attempts, with pauses between them.
     *
     * @param name of the request, for the error
     * @param attempt with its number, from 0
     * @throws UserError after the last one
     */
    async retrying<T>(name: string, attempt: (number: number) => Promise<T>): Promise<T> {
      for (let number = 0; ; number += 1) {
        try {
          return await attempt(number);
        } catch (error) {
          if (!(error instanceof SourceFailure)) throw error;
          const { status = 500, headers } = error.response ?? {};
          if ((status < 500 && status !== 429) || number + 1 === ATTEMPTS)
            throw new UserError(`${name} ${error.message}`, { cause: error });
          const after = Number(headers?.get('retry-after'));
          const wait = Math.max(
            after <= MAX_RETRY_AFTER_S ? after * 1000 : 0,
            pause * 2 ** Math.min(number, 3),
          );
          await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },
  };
}

/** The URL of the API, without a `/` at its end. */
function baseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^(https:\/\/|http:\/\/(localhost|127\.[\d.]+|\[::1\])[:/])[^@]*$/.test(url.href))
    throw new UserError(
      '--from: expected the URL of a service without a user name, such as https://host/api/v1',
    );
  return `${url.origin}${url.pathname}`.replace(/\/*(api\/v1\/*)?$/, '/api/v1');
}

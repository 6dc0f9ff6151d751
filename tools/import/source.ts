import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, UserError } from '../command.ts';
import { printable } from '../keys/printable.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Values take much more memory than their text. A page of 5,000 responses has some 100,000. */
const MAX_VALUES = 4_000_000;
const COMMA = 0x2c;
/**
 * Numbers that a double may not hold as they are written, and escapes of ASCII, which may hide the
 * key. Without them, JSON is parsed six times as fast.
 */
const NEEDS_SOURCE = /(?:"\s*:|[[,])\s*-?\d(?:\d{15}|\d*[.eE])|\\u00[2-7]/;
const MAX_RETRY_AFTER_S = 300;
const ATTEMPTS = 5;

interface FailureDetails {
  /** Whether another attempt would fail too. */
  readonly isFinal?: boolean;
  /** The status of the response; undefined if the transfer broke. */
  readonly status?: number;
  /** How long to wait before another attempt, in seconds. */
  readonly retryAfter?: number;
}

/** A request that failed. */
export class SourceFailure extends UserError {
  override name = 'SourceFailure';
  readonly details: FailureDetails;

  constructor(message: string, details: FailureDetails = {}) {
    super(message);
    this.details = details;
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
    throw new UserError(
      key === ''
        ? 'SURVEY_SOURCE_KEY is not set: it is the key for --from'
        : 'SURVEY_SOURCE_KEY is not a key: it has spaces or characters beyond ASCII',
    );

  /**
   * @param query already encoded
   * @param limit the most bytes that the body may have
   * @throws SourceFailure unless the response is 200 and complete
   */
  async function get(path: string, query = '', limit = MAX_BODY_BYTES): Promise<Buffer> {
    const ended = new AbortController();
    const end = (words: string) => () => ended.abort(new SourceFailure(words));
    const timers = [
      setTimeout(end(`sent nothing for ${silence / 1000} s`), silence),
      setTimeout(end(`was not complete after ${request / 1000} s`), request),
    ];

    try {
      const response = await fetch(`${base}${path}${query && `?${query}`}`, {
        headers: { Authorization: `Bearer ${key}` },
        redirect: 'manual',
        signal: AbortSignal.any([signal, ended.signal]),
      });

      const chunks: Uint8Array[] = [];
      let size = 0;
      if (response.status !== 200) {
        await response.body?.cancel();
        throw refusal(response);
      }

      for await (const chunk of response.body ?? []) {
        timers[0]?.refresh();
        size += chunk.length;
        if (size > limit) throw new SourceFailure(`is longer than ${limit / 1024 / 1024} MiB`);
        chunks.push(chunk);
      }

      const body = Buffer.concat(chunks);
      if (body.includes(key)) throw containsKey();
      return body;
    } catch (error) {
      signal.throwIfAborted();
      ended.signal.throwIfAborted();
      if (error instanceof SourceFailure) throw error;
      const { cause = error } = error as Error;
      throw new SourceFailure(`broke off: ${printable(messageOf(cause))}`);
    } finally {
      timers.forEach(clearTimeout);
    }
  }

  return {
    get,

    /**
     * Makes attempts, with pauses between them.
     *
     * @param attempt with its number, from 0
     * @throws SourceFailure of the last one
     */
    async retrying<T>(attempt: (number: number) => Promise<T>, attempts = ATTEMPTS): Promise<T> {
      for (let number = 0; ; number += 1) {
        try {
          return await attempt(number);
        } catch (error) {
          if (!(error instanceof SourceFailure) || error.details.isFinal || number + 1 >= attempts)
            throw error;
          const wait = Math.max(
            (error.details.retryAfter ?? 0) * 1000,
            pause * 2 ** Math.min(number, 3),
          );
          await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    },

    /**
     * Parses JSON so that `JSON.stringify` writes each number with the digits of the body.
     *
     * @param onLargeNumber called for each integer that a double cannot hold exactly
     */
    parse(body: Buffer, onLargeNumber: () => void = () => {}): unknown {
      if (isCrowded(body)) throw new SourceFailure('has too many values');
      const revive = (name: string, value: unknown, { source }: { source: string }) => {
        if (name.includes(key) || (typeof value === 'string' && value.includes(key)))
          throw containsKey();
        if (typeof value !== 'number') return value;
        if (Math.abs(value) > Number.MAX_SAFE_INTEGER) onLargeNumber();
        return rawJson(source);
      };

      try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
        if (!NEEDS_SOURCE.test(text)) return JSON.parse(text);
        return JSON.parse(text, revive as (name: string, value: unknown) => unknown);
      } catch (error) {
        if (error instanceof SourceFailure) throw error;
        throw new SourceFailure('is not JSON');
      }
    },
  };
}

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not describe yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

function isCrowded(body: Buffer): boolean {
  let commas = 0;
  for (let at = body.indexOf(COMMA); at !== -1; at = body.indexOf(COMMA, at + 1)) commas += 1;
  return commas > MAX_VALUES;
}

const containsKey = () =>
  new SourceFailure('contains the key, and is refused for that', { isFinal: true });

/** The URL of the API, without a `/` at its end. */
function baseUrl(text: string): string {
  const url = URL.parse(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)))
    throw new UserError('--from: expected the URL of a service, such as https://host/api/v1');
  if (url.username || url.password)
    throw new UserError(
      '--from: the URL must have no user name or password: the key is SURVEY_SOURCE_KEY',
    );
  if (url.search || url.hash) throw new UserError('--from: the URL must end with its path');
  const base = url.href.replace(/\/+$/, '');
  return base.endsWith('/api/v1') ? base : `${base}/api/v1`;
}

function refusal({ status, headers }: Response): SourceFailure {
  const seconds = headers.get('retry-after') ?? '';
  const retryAfter = /^\d{1,3}$/.test(seconds) ? Number(seconds) : 0;
  const reasons: Record<number, string> = {
    401: 'the key (SURVEY_SOURCE_KEY) is not accepted',
    404: 'is this the URL of a service?',
  };

  const reason = status >= 300 && status < 400 ? 'redirects are not followed' : reasons[status];
  return new SourceFailure(`has status ${status}${reason === undefined ? '' : `: ${reason}`}`, {
    status,
    isFinal: status !== 429 && status < 500,
    retryAfter: retryAfter > MAX_RETRY_AFTER_S ? 0 : retryAfter,
  });
}

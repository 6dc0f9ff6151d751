import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, UserError } from '../command.ts';
import { printable } from '../keys/printable.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_RETRY_AFTER = 300_000; // milliseconds
const ATTEMPTS = 7;

/** Members that contain JSON even where it is a text. */
const JSON_MEMBERS = new Set(['metadata', 'translation_conf', 'timeouts']);

/**
 * Small values take some 50 times their bytes in memory. 5,000 responses have 80,000 members, and
 * as many commas in texts.
 */
const MAX_VALUES = 500_000;
/** Bytes that precede a value. */
const STARTS: ReadonlySet<number | undefined> = new Set(Buffer.from(',[{'));

/** Numbers that a double may not hold as they are written. JSON without them is parsed fast. */
const LONG_NUMBER = /(?:"\s*:|[[,])\s*-?\d(?:\d{15}|\d*[.eE])/;

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not describe yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** An object of a JSON body: texts, and the JSON of other values. */
export type JsonObject = Readonly<Record<string, string | null>>;

/** A request that failed. */
export class SourceFailure extends UserError {
  /** Undefined if the transfer broke, or if the body is not as expected. */
  readonly response: Response | undefined;

  constructor(message: string, response?: Response) {
    super(message);
    this.response = response;
  }
}

export type Source = ReturnType<typeof openSource>;

/**
 * A running service with the endpoints of the contract, which is not trusted.
 *
 * @param key in no message. A body that contains it is refused, since messages quote bodies.
 * @param timing in milliseconds: how long a request may receive nothing, and how long it may take;
 * the pause before the second attempt, which doubles up to the fifth
 * @throws UserError for a URL or a key that cannot be used
 */
export function openSource(
  from: string,
  key: string,
  signal: AbortSignal,
  { silence = 120_000, request = 900_000, pause = 1_000 } = {},
) {
  const base = baseUrl(from);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UserError('SURVEY_SOURCE_KEY must be set to the key for --from');

  const refuseKey = (path: string, parts: readonly (Buffer | string | null)[]): void => {
    if (parts.some((part) => part?.includes(key)))
      throw new UserError(`${path} contains the key: it is refused`);
  };

  /**
   * @param query already encoded
   * @param limit the most bytes that the body may have
   * @throws SourceFailure unless the response is 2xx and complete
   */
  async function get(path: string, query = '', limit = MAX_BODY_BYTES): Promise<Buffer> {
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
        const { status } = response;
        const wrong = status === 401 || status === 403 ? 'SURVEY_SOURCE_KEY' : '--from';
        const advice = status < 429 ? `: is ${wrong} right?` : '';
        throw new SourceFailure(`has status ${status}${advice}`, response);
      }

      const buffer = Buffer.allocUnsafeSlow(limit); // takes memory only where it is written
      let size = 0;
      for await (const chunk of response.body ?? []) {
        timer.refresh();
        if (size + chunk.length > limit) throw new SourceFailure('is longer than 64 MiB');
        buffer.set(chunk, size);
        size += chunk.length;
      }

      const body = buffer.subarray(0, size);
      refuseKey(path, [body]);
      return body;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UserError) throw error;
      const { cause = error } = error as Error;
      throw new SourceFailure(`broke off: ${printable(messageOf(cause)).replaceAll(key, '…')}`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    get,

    /**
     * The objects of a JSON body, as {@link objectsIn} returns them.
     *
     * @throws SourceFailure as `get`, or if there are none
     */
    async objects(path: string, query?: string, onLargeNumber?: () => void) {
      const objects = objectsIn(await get(path, query), onLargeNumber);
      for (const object of objects) refuseKey(path, Object.values(object)); // without escapes
      return objects;
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
          const retryAfter = headers?.get('retry-after') ?? '';
          const after = Number(retryAfter) * 1000 || Date.parse(retryAfter) - Date.now();
          const wait = Math.max(
            after <= MAX_RETRY_AFTER ? after : 0,
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
      '--from: expected an address that begins with https:// (http:// on this machine alone) and has no user name, such as https://host/api/v1',
    );
  return `${url.origin}${url.pathname}`.replace(/\/*(api\/v1\/*)?$/, '/api/v1');
}

/**
 * The objects of `/surveys` or `/responses`. Numbers keep the digits of the body.
 *
 * @param onLargeNumber called for each number that a double may have rounded, by its digits
 * @throws SourceFailure if the body is something else, or has too many values
 */
function objectsIn(body: Buffer, onLargeNumber?: () => void): JsonObject[] {
  let values = 0;
  for (let at = 0; at < body.length && values <= MAX_VALUES; at += 1)
    if (STARTS.has(body[at])) values += 1;
  if (values > MAX_VALUES) throw new SourceFailure('has too many values');

  const text = body.toString();
  const revive = (_: string, value: unknown, { source }: { source: string }) => {
    if (typeof value !== 'number') return value;
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER && String(value) === source) onLargeNumber?.();
    return rawJson(source);
  };

  try {
    const hasLong = LONG_NUMBER.test(text);
    const value = JSON.parse(text, hasLong ? (revive as () => unknown) : undefined) as unknown[] & {
      responses?: unknown[];
    };

    return (value.responses ?? value).map(inTexts);
  } catch {
    throw new SourceFailure('is not a list of objects in JSON');
  }
}

function inTexts(item: unknown): JsonObject {
  const object = Object(item) as Record<string, string | null>;
  for (const [name, value] of Object.entries(object)) {
    const isText = typeof value === 'string' && !JSON_MEMBERS.has(name);
    if (value !== null && !isText) object[name] = JSON.stringify(value);
  }

  return object;
}

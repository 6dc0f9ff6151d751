import { errors } from './texts.ts';

const BASE = '/api/v1';
/** How many times a request that may succeed a moment later is repeated. */
const RETRIES = 3;
const MAX_SECONDS = 10;

/** The parameters of a query string. */
export type Params = [name: string, value: string][];

/**
 * The API with a key. Its functions throw ApiError; TypeError if the service cannot be reached; the
 * signal's reason.
 */
export interface Api {
  /**
   * Requests a path once.
   *
   * @param path below the base path
   * @returns a response with status 200
   */
  readonly open: (path: string, params: Params, signal: AbortSignal) => Promise<Response>;
  /** Reads JSON. Repeats requests that are refused with `Retry-After`. */
  readonly json: <T>(path: string, params: Params, signal: AbortSignal) => Promise<T>;
}

/** A response with an error status. */
export class ApiError extends Error {
  readonly status: number;
  /** One of the codes in docs/api.md; empty if a gateway sent the response. */
  readonly code: string;
  /** Seconds; 0 if a retry is not worthwhile. */
  readonly retryAfter: number;
  readonly requestId: string;

  /** @param message the service's own */
  constructor({ status, headers }: Response, message: string) {
    super(message);
    this.status = status;
    this.code = headers.get('X-Error-Code') ?? '';
    this.retryAfter = Number(headers.get('Retry-After') ?? 0);
    this.requestId = headers.get('X-Request-Id') ?? '';
  }
}

/**
 * A sentence about a failed request that says what to do.
 *
 * @param error of one of the functions of {@link Api}
 */
export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return errors.offline;
  const sentence = Object.entries(errors).find(([code]) => code === error.code)?.[1];
  if (typeof sentence === 'string') return sentence;
  // The service's own message names the parameter and the expected value.
  return (error.status === 400 && error.message) || errors.other(error.requestId);
}

/** Whether a request was aborted. */
export const isAbort = (error: unknown) =>
  error instanceof DOMException && error.name === 'AbortError';

/** @param onRefused called when the service refuses the key */
export function createApi(key: string, onRefused: () => void): Api {
  async function open(path: string, params: Params, signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams(params);
    // a survey without responses is no error
    if (path.startsWith('/responses')) query.set('missing', '404');
    const response = await fetch(`${BASE}${path}?${query}`, {
      signal,
      cache: 'no-store',
      headers: { Authorization: `Bearer ${key}` },
    });
    if (response.ok) return response;

    const body = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
    if (response.status === 401) onRefused();
    throw new ApiError(response, body.error?.message ?? '');
  }

  async function json<T>(path: string, params: Params, signal: AbortSignal): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        const response = await open(path, params, signal);
        return (await response.json()) as T;
      } catch (error) {
        const canRetry = error instanceof ApiError && error.retryAfter > 0;
        if (!canRetry || tries === RETRIES) throw error;

        await pause(Math.min(error.retryAfter, MAX_SECONDS) * 1000, signal);
      }
    }
  }

  return { open, json };
}

/** Waits. @throws the signal's reason */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

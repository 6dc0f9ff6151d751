import { send } from '../shared/request.mjs';
import { errors } from './texts.mjs';

const BASE = '/api/v1';
/** How many times a request that may succeed a moment later is repeated. */
const RETRIES = 3;
const MOST_SECONDS = 10;

/** @typedef {[name: string, value: string][]} Params */
/** @typedef {ReturnType<typeof createApi>} Api */
/** @typedef {{ responses: number, participants: number, first: string | null, last: string | null, days: { day: string, responses: number, participants: number }[] }} Summary */

/** A response with an error status. */
export class ApiError extends Error {
  /**
   * @param {globalThis.Response} response
   * @param {string} message the service's own
   */
  constructor({ status, headers }, message) {
    super(message);
    this.status = status;
    /** One of the codes in docs/api.md. */
    this.code = headers.get('X-Error-Code') ?? '';
    /** Seconds; 0 if a retry is not worthwhile. */
    this.retryAfter = Number(headers.get('Retry-After') ?? 0);
    this.requestId = headers.get('X-Request-Id') ?? '';
  }
}

/**
 * A sentence about a failed request that says what to do.
 *
 * @param {unknown} error of one of the functions of {@link createApi}
 */
export function explain(error) {
  if (!(error instanceof ApiError)) return errors.offline;
  if (error.status === 400 && error.message !== '') return error.message; // names the parameter and the expected value
  const sentence = Object.entries(errors).find(([code]) => code === error.code)?.[1];
  return typeof sentence === 'string' ? sentence : errors.other(error.requestId);
}

/**
 * The API with a key.
 *
 * @param {string} key
 * @param {() => void} onRefused called when the service refuses the key
 */
export function createApi(key, onRefused) {
  /**
   * Requests a path once.
   *
   * @param {string} path below the base path
   * @param {Params} params
   * @param {AbortSignal} signal
   * @returns {Promise<globalThis.Response>} with status 200
   * @throws ApiError; TypeError if the service cannot be reached; the signal's reason
   */
  async function open(path, params, signal) {
    const query = new URLSearchParams(params).toString();
    const response = await send({ url: `${BASE}${path}${query && `?${query}`}`, key, signal });
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    if (response.status === 401) onRefused();
    throw new ApiError(response, body.error?.message ?? '');
  }

  /**
   * Reads JSON. Repeats requests that are refused with `Retry-After`.
   *
   * @param {string} path
   * @param {Params} params
   * @param {AbortSignal} signal
   */
  async function json(path, params, signal) {
    for (let tries = 0; ; tries++) {
      try {
        return await (await open(path, params, signal)).json();
      } catch (error) {
        if (!(error instanceof ApiError) || error.retryAfter === 0 || tries === RETRIES) throw error;
        await pause(Math.min(error.retryAfter, MOST_SECONDS) * 1000, signal);
      }
    }
  }

  return {
    open,
    json,
    /**
     * Counts responses. A survey without any has zero.
     *
     * @param {Params} params with `survey`
     * @param {AbortSignal} signal
     * @returns {Promise<Summary>}
     */
    summary: (params, signal) =>
      json('/responses/summary', params, signal).catch((error) => {
        if (error instanceof ApiError && error.code === 'no_responses')
          return { responses: 0, participants: 0, first: null, last: null, days: [] };
        throw error;
      }),
  };
}

/**
 * Waits.
 *
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 * @throws the signal's reason
 */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

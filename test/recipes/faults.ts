import type { Fault } from '../support/fault-proxy.ts';

export const noFault: Fault = () => {};

/** Breaks the connection after so many bytes of the body. */
export function cutAfter(bytes: number): Fault {
  return (exchange) => exchange.cutAfter(bytes);
}

/** Shortens the body, which still ends as if it were complete. */
export function shortenTo(bytes: number): Fault {
  return (exchange) => exchange.change((body) => body.subarray(0, bytes));
}

/** Responds as a busy service does. */
export function busy(status: 429 | 503, retryAfterSeconds: number): Fault {
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  return (exchange) => exchange.reply(status, '{"error":{"message":"busy"}}', headers);
}

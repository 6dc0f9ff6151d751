import type { RateLimit } from '@cloudflare/workers-types';
import { expandIPv6 } from 'hono/utils/ipaddr';
import type { ApiError } from '../http/errors.ts';
import { logFailure } from '../http/log.ts';

/**
 * Counts a request with a rate limiting binding: per Cloudflare location, approximately, without a
 * round trip. https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 *
 * If the binding fails, the request is allowed.
 *
 * @param key what the request is counted by: an account's id, or an address
 * @throws error() if the limit is reached
 */
export async function enforceLimit(
  limiter: RateLimit,
  key: string,
  requestId: string,
  error: () => ApiError,
): Promise<void> {
  const { success } = await limiter.limit({ key }).catch((cause: unknown) => {
    logFailure('rate limiter failed', requestId, cause);
    return { success: true };
  });

  if (!success) throw error();
}

/**
 * The client's IPv4 address, or its IPv6 /64, because a client with one IPv6 address usually has
 * the whole /64 (RFC 6177). Cloudflare sets the header and overwrites what a client sends.
 */
export function addressOf(headers: Headers): string {
  const address = headers.get('CF-Connecting-IP') ?? 'unknown';
  const ipv4 = /^(?:::ffff:)?(\d[\d.]+)$/i.exec(address)?.[1];
  // Brackets in a URL hold an IPv6 address, and nothing else.
  const isIPv6 = URL.canParse(`http://[${address}]`);
  if (ipv4 || !isIPv6) return ipv4 ?? address;

  return `${expandIPv6(address.toLowerCase()).slice(0, 19)}::/64`;
}

import { logFailure } from '../http/log.ts';

/*
 * Cloudflare's rate-limiting bindings: counted per location, approximately, without a round trip.
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/
 */

/** The part of `RateLimit` that is used here. */
interface RateLimiter {
  limit(options: { key: string }): Promise<{ success: boolean }>;
}

/** @returns whether one more is allowed. A limiter that fails limits nobody. */
export async function isAllowed(limiter: RateLimiter, key: string, requestId: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success;
  } catch (error) {
    logFailure('rate limiter failed', { requestId, error: String(error) });
    return true;
  }
}

/**
 * Whom to hold responsible for a request: its IPv4 address, or the network of its IPv6 address, since whoever has one of
 * these has the 2^64 beside it (RFC 6177). Cloudflare sets the header, and overwrites what a client puts there.
 */
export function addressOf(headers: Headers): string {
  const address = headers.get('CF-Connecting-IP') ?? 'unknown';
  const ipv4 = /^(?:::ffff:)?(\d[\d.]+)$/i.exec(address)?.[1];
  if (ipv4 || !address.includes(':')) return ipv4 ?? address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

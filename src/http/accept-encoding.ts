import { parseAccept } from 'hono/utils/accept';

/**
 * Whether a client prefers gzip to an unencoded body (RFC 9110 section 12.5.3). A client without
 * `Accept-Encoding` gets no gzip, although the RFC would allow it.
 */
export function prefersGzip(acceptEncoding: string) {
  const codings = parseAccept(acceptEncoding.toLowerCase());
  // equivalent: section 8.4.1.3
  const weights = new Map(codings.map(({ type, q }) => [type === 'x-gzip' ? 'gzip' : type, q]));

  const rest = weights.get('*');
  const gzip = weights.get('gzip') ?? rest ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? rest ?? 0);
}

import type { MiddlewareHandler } from 'hono';
import { prefersGzip } from './accept-encoding.ts';
import { XLSX } from './attachment.ts';
import type { AppEnv } from './context.ts';

/** In bytes. A smaller body fits into one network packet, compressed or not. */
const MIN_LENGTH = 1024;

/**
 * Compresses successful responses, except small ones and workbooks, which are compressed already,
 * for clients that prefer gzip.
 *
 * The header makes the runtime compress the body. A `CompressionStream` would keep reading while
 * the client pauses. An aborted transfer has no gzip trailer, so decompressing it fails too.
 */
export const compress: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  c.header('Vary', 'Accept-Encoding', { append: true });

  const { headers, status } = c.res;
  const isSmall = Number(headers.get('Content-Length') ?? Infinity) < MIN_LENGTH;
  const isCompressed = headers.get('Content-Type') === XLSX.contentType;
  if (status !== 200 || isSmall || isCompressed) return;
  if (!prefersGzip(acceptEncodingOf(c.req.raw))) return;

  c.header('Content-Length', undefined);
  c.header('Content-Encoding', 'gzip');
};

/**
 * The client's `Accept-Encoding`. Cloudflare overwrites the header with `br, gzip`, and puts the
 * original, if any, into `cf`.
 * https://developers.cloudflare.com/fundamentals/reference/http-headers/#accept-encoding
 */
function acceptEncodingOf(request: Request): string {
  const { cf } = request as Request<unknown, IncomingRequestCfProperties>;
  return (cf ? cf.clientAcceptEncoding : request.headers.get('Accept-Encoding')) ?? '';
}

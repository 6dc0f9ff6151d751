import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from './context.ts';
import { prefersGzip } from './accept-encoding.ts';

/** Bytes. What is smaller fits one network packet either way. */
export const WORTH_COMPRESSING = 1024;

/**
 * Compresses what goes well and is not small, for clients that ask for gzip.
 *
 * The runtime does the work, because the header says so: `CompressionStream` would take all that it is given, however long
 * its reader pauses. What breaks off has no gzip trailer: to whoever unpacks it, too, it is broken.
 */
export function compress(): MiddlewareHandler<AppEnv> {
  return async function compressBody(c, next) {
    await next();
    c.header('Vary', 'Accept-Encoding', { append: true });
    const length = Number(c.res.headers.get('Content-Length') ?? Infinity);
    if (c.res.status !== 200 || length < WORTH_COMPRESSING || !prefersGzip(acceptEncodingOf(c.req.raw))) return;
    c.header('Content-Length', undefined);
    c.header('Content-Encoding', 'gzip');
  };
}

/**
 * What the client has sent. Cloudflare overwrites the header with `br, gzip`, and puts the client's own, if there was one,
 * into `cf`: where there is a `cf`, the header says nothing.
 * https://developers.cloudflare.com/fundamentals/reference/http-headers/#accept-encoding
 */
function acceptEncodingOf(request: Request): string {
  const { cf } = request as Request<unknown, IncomingRequestCfProperties>;
  return (cf ? cf.clientAcceptEncoding : request.headers.get('Accept-Encoding')) ?? '';
}

import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { AppEnv } from './context.ts';
import { logRequest } from './log.ts';
import { RequestStats, type TransferEnd } from './request-stats.ts';
import { reasonOf } from './failure-reason.ts';

/**
 * Writes one line to the log for each request (docs/operations.md), at its end: for a body that is streamed that is the
 * end of the transfer, however it comes about. It has to be the outermost part of the app.
 */
export function logRequests(): MiddlewareHandler<AppEnv> {
  return async function writeLineAtEnd(c, next) {
    const stats = new RequestStats();
    c.set('requestId', crypto.randomUUID());
    const ending = new AbortController();
    c.set('ending', ending);
    c.set('signal', AbortSignal.any([c.req.raw.signal, ending.signal]));
    c.set('stats', stats);
    // When a client leaves, workerd drops all that nobody waits for.
    const written = Promise.withResolvers<void>();
    c.executionCtx.waitUntil(written.promise);
    const write = (status: number | null, end: TransferEnd) => {
      writeLine(c, status, end);
      written.resolve();
    };

    try {
      await next();
    } catch (error) {
      write(500, { end: 'failed', reason: reasonOf(error) });
      throw error;
    }
    const { status } = c.res;
    if (stats.transfer) void stats.transfer.then((end) => write(status, end));
    else if (c.req.raw.signal.aborted) write(null, { end: 'client left' });
    else write(status, { end: 'complete' });
  };
}

function writeLine(c: Context<AppEnv>, status: number | null, ending: TransferEnd): void {
  const { requestId, stats } = c.var;
  const { method } = c.req;
  const sent = method !== 'HEAD' && status !== null;
  const { accountId, keyId, sqlRequests, retries, keyCache, elapsedMs } = stats;
  logRequest({
    requestId,
    method,
    route: routeOf(c),
    accountId,
    keyId,
    status,
    rows: sent ? stats.rows : 0,
    bytes: sent ? stats.bytes : 0,
    durationMs: elapsedMs,
    sqlRequests,
    retries,
    keyCache,
    ...ending,
  });
}

/** The address that the app has for a request, as it was defined: of what a client writes nothing gets into the log. */
function routeOf(c: Context<AppEnv>): string | null {
  return matchedRoutes(c).findLast(({ path }) => !path.includes('*'))?.path ?? null;
}

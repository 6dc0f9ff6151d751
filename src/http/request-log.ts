import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Account, AppEnv } from './context.ts';
import { logRequest, reasonOf } from './log.ts';
import { RequestStats, type TransferEnd } from './request-stats.ts';

/**
 * Logs one line per request (docs/operations.md) when it ends: for a streamed body, when the
 * transfer has completed or failed. Must be the outermost middleware.
 */
export const logRequests: MiddlewareHandler<AppEnv> = async (c, next) => {
  const stats = new RequestStats();
  const requestAbort = new AbortController();
  c.set('requestId', crypto.randomUUID());
  c.set('requestAbort', requestAbort);
  c.set('signal', AbortSignal.any([c.req.raw.signal, requestAbort.signal]));
  c.set('stats', stats);

  // After the client disconnects, workerd runs only what was passed to `waitUntil`.
  const end = Promise.withResolvers<TransferEnd>();
  let status: number | null = 500;
  c.executionCtx.waitUntil(end.promise.then((how) => logLine(c, status, how)));

  try {
    await next();
  } catch (error) {
    end.resolve({ end: 'failed', reason: reasonOf(error) });
    throw error;
  }

  const hasLeft = !stats.transfer && c.req.raw.signal.aborted;
  status = hasLeft ? null : c.res.status;
  end.resolve(stats.transfer ?? { end: hasLeft ? 'client left' : 'complete' });
};

function logLine(c: Context<AppEnv>, status: number | null, end: TransferEnd): void {
  const { requestId, stats } = c.var;
  const account = c.var.account as Account | undefined; // undefined until authentication
  const { method } = c.req;
  const hasBody = method !== 'HEAD' && status !== null;
  const { queries, keyCache, elapsedMs } = stats;

  logRequest({
    requestId,
    method,
    route: routeOf(c),
    accountId: account?.id ?? null,
    keyId: account?.keyId ?? null,
    status,
    rows: hasBody && status === 200 ? stats.rows : 0,
    bytes: hasBody ? stats.bytes : 0,
    durationMs: elapsedMs,
    sqlRequests: queries.requests,
    retries: queries.retries,
    keyCache,
    ...end,
  });
}

/**
 * The path of the matched endpoint, which contains nothing that the client wrote; null if there is
 * none.
 */
function routeOf(c: Context<AppEnv>): string | null {
  const route = matchedRoutes(c).findLast(({ path }) => !path.includes('*'));
  if (route) return route.path;
  return c.res.status === 405 ? c.req.path : null; // another method on an endpoint's path
}

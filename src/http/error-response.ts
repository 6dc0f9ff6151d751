import type { Context } from 'hono';
import { DatabaseError } from '../db/errors.ts';
import { LimitError } from '../limits/slots.ts';
import type { AppEnv } from './context.ts';
import { ApiError, databaseUnavailable, internalError, limitReached } from './errors.ts';
import { logFailure } from './log.ts';
import { JSON_TYPE, sendBody } from './send.ts';

/**
 * Turns any error into a response: `{"error":{"message":"…"}}`, with nothing else at the top level.
 */
export function errorResponse(error: Error, c: Context<AppEnv>): Promise<Response> {
  const { requestAbort, requestId } = c.var;
  requestAbort.abort(); // cancels everything else that the request has started

  const { code, message, headers, status } = toApiError(error, requestId);
  const { signal } = c.req.raw;
  const isExpected = code !== 'database_unavailable' && code !== 'internal_error';
  const hasLeft = signal.aborted && error === signal.reason;
  if (!isExpected && !hasLeft) logFailure('request failed', requestId, error);

  const allHeaders = { ...headers, ...JSON_TYPE, 'X-Error-Code': code };
  return sendBody(c, JSON.stringify({ error: { message } }), allHeaders, status);
}

function toApiError(error: Error, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof LimitError) return limitReached(error);
  if (error instanceof DatabaseError && error.kind !== 'defect')
    return databaseUnavailable(error.kind);
  return internalError(requestId);
}

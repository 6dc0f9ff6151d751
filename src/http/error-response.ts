import type { Context } from 'hono';
import { DatabaseError } from '../db/errors.ts';
import type { AppEnv } from './context.ts';
import { ApiError, databaseUnavailable } from './errors.ts';
import { logFailure } from './log.ts';
import { sendBody } from './send.ts';

/** Turns any error into a response: `{"error":{"message":"…"}}`, with nothing else at the top level. */
export function errorResponse(error: Error, c: Context<AppEnv>): Response {
  c.var.ending.abort(); // cancels everything else that the request has started
  const known = toApiError(error);
  if (known && known.status !== 503) return respond(c, known.status, known.message, known.headers);

  const { requestId } = c.var;
  const { signal } = c.req.raw;
  if (signal.aborted && error === signal.reason) return respond(c, 500, 'The client disconnected.', {}); // nobody reads it
  logFailure('request failed', { requestId, error: error.message, stack: error.stack });
  if (known) return respond(c, known.status, known.message, known.headers);
  return respond(c, 500, `Something went wrong on our side. Please tell us this request id: ${requestId}`, {});
}

function toApiError(error: Error): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseError && error.kind !== 'defect') return databaseUnavailable(error);
  return undefined;
}

function respond(
  c: Context<AppEnv>,
  status: ApiError['status'],
  message: string,
  headers: ApiError['headers'],
): Response {
  return sendBody(
    c,
    JSON.stringify({ error: { message } }),
    { ...headers, 'Content-Type': 'application/json' },
    status,
  );
}

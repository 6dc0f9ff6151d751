import type { Context } from 'hono';
import { answerWhole } from './send.ts';
import type { AppEnv } from './context.ts';
import { DatabaseError } from '../db/errors.ts';
import { ApiError, databaseUnavailable } from './errors.ts';
import { logFailure } from './log.ts';

/** The one place where an error becomes a response: `{"error":{"message":"…"}}` and nothing else at the top level. */
export function errorResponse(error: Error, c: Context<AppEnv>): Response {
  c.var.ending.abort(); // whatever the request has begun beside what failed
  const known = toApiError(error);
  if (known && known.status !== 503) return respond(c, known.status, known.message, known.headers);

  const { requestId } = c.var;
  const { signal } = c.req.raw;
  if (signal.aborted && error === signal.reason) return respond(c, 500, 'The client has gone.', {}); // to nobody
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
  c.var.stats.rows = 0; // whatever had been read for an answer
  const json = { ...headers, 'Content-Type': 'application/json' };
  return answerWhole(c, JSON.stringify({ error: { message } }), json, status);
}

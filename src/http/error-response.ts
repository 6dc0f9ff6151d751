import type { Context } from 'hono';
import { DatabaseError } from '../db/errors.ts';
import type { AppEnv } from './context.ts';
import { LimitError } from '../limits/quota.ts';
import { ApiError, databaseNotConfigured, databaseUnavailable, internalError, limitReached } from './errors.ts';
import { detailsOf, logFailure } from './log.ts';
import { sendBody } from './send.ts';

/** Turns any error into a response: `{"error":{"message":"…"}}`, with nothing else at the top level. */
export async function errorResponse(error: Error, c: Context<AppEnv>): Promise<Response> {
  c.var.requestAbort.abort(); // cancels everything else that the request has started
  const known = toApiError(error);
  if (known && known.code !== 'database_unavailable') return respond(c, known);

  const { requestId } = c.var;
  const { signal } = c.req.raw;
  if (signal.aborted && error === signal.reason) return respond(c, internalError('The client disconnected.')); // nobody reads it
  logFailure('request failed', { requestId, ...detailsOf(error) });
  return respond(
    c,
    known ?? internalError(`Something went wrong on our side. Please tell us this request id: ${requestId}`),
  );
}

function toApiError(error: Error): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof LimitError) return limitReached(error);
  if (error instanceof DatabaseError && error.kind === 'not-configured') return databaseNotConfigured(error);
  if (error instanceof DatabaseError && error.kind !== 'defect') return databaseUnavailable(error);
  return undefined;
}

function respond(c: Context<AppEnv>, { status, code, message, headers }: ApiError): Promise<Response> {
  const body = JSON.stringify({ error: { message } });
  return sendBody(c, body, { ...headers, 'Content-Type': 'application/json', 'X-Error-Code': code }, status);
}

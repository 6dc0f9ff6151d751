import { NeonDbError } from '@neondatabase/serverless';

/**
 * What a failed query means to us:
 * - `too-large`: the answer is larger than allowed; ask for fewer rows;
 * - `transient`: worth trying again;
 * - `unavailable`: the database cannot serve now, and trying again at once would not help;
 * - `defect`: the query, the credentials or this code is wrong.
 */
export type FailureKind = 'too-large' | 'transient' | 'unavailable' | 'defect';

/** The one error that leaves `db/`, but for aborts. Its message is for the log: it may quote the database. */
export class DatabaseError extends Error {
  override name = 'DatabaseError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** 57P01–03: shut down, crashed, starting up; 53300: too many connections; 40001, 40P01: serialisation, deadlock; 08*. */
const TRANSIENT_SQLSTATE = /^(?:57P0[123]|53300|40001|40P01|08...)$/;
/** Somebody has cancelled the query, or `statement_timeout` has: it would take as long again. */
const QUERY_CANCELED = '57014';
const TRANSIENT_WITHOUT_CODE = /connection closed|error communicating|timeout/i;
/** What workerd says to a Worker that has made as many requests as its plan allows for one of its own. */
const SPENT = /too many subrequests/i;
const NOT_WORTH_RETRYING = /quota|authenticat|password|not found/i;

/**
 * Sorts an HTTP status other than 200 or 400 of Neon's SQL endpoint: its proxy answers 507 past the size limit, 413 to
 * a request that is too large, 500 for everything from a failed wake-up to a quota. Statuses as in
 * https://github.com/neondatabase/neon/blob/main/proxy/src/serverless/sql_over_http.rs
 * 520 to 530 are Cloudflare's own, for an endpoint that it could not reach or did not understand:
 * https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 */
export function failureOfStatus(status: number, body: string): DatabaseError {
  const message = `the SQL endpoint answered ${status}: ${body.slice(0, 500)}`;
  if (status === 507) return new DatabaseError('too-large', message);
  if (status === 429 || (status >= 502 && status <= 504)) return new DatabaseError('transient', message);
  if (status >= 520 && status <= 530) return new DatabaseError('transient', message);
  if (status === 500) {
    if (/quota/i.test(body)) return new DatabaseError('unavailable', message);
    if (!NOT_WORTH_RETRYING.test(body)) return new DatabaseError('transient', message);
  }
  return new DatabaseError('defect', message);
}

/**
 * Sorts whatever the driver throws. Its errors for status 400 carry the SQLSTATE; a fetch that was refused or a body
 * that broke off reaches us as it is (TypeError, SyntaxError).
 */
export function failureOf(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof NeonDbError) {
    if (error.sourceError) return failureOf(error.sourceError);
    const { code, message } = error;
    return new DatabaseError(kindOf(code, message), `${code ?? ''} ${message}`.trim(), error);
  }
  if (error instanceof SyntaxError) return new DatabaseError('transient', 'an answer that is not JSON'); // it quotes the answer
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new DatabaseError(SPENT.test(message) ? 'unavailable' : 'transient', message, error);
}

function kindOf(code: string | undefined, message: string): FailureKind {
  if (code === QUERY_CANCELED) return 'unavailable';
  const transient = code ? TRANSIENT_SQLSTATE.test(code) : TRANSIENT_WITHOUT_CODE.test(message);
  return transient ? 'transient' : 'defect';
}

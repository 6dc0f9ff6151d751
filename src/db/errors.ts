import { NeonDbError } from '@neondatabase/serverless';
import { DateStyleError } from '../encode/time.ts';

/**
 * The kinds of failed queries:
 * - `too-large`: the result exceeds a limit; request fewer rows;
 * - `transient`: worth a retry;
 * - `unavailable`: the database cannot serve now, and a retry would not help;
 * - `not-configured`: a setting of the database is missing or invalid;
 * - `defect`: the query, the credentials or the code is wrong.
 */
export type FailureKind = 'too-large' | 'transient' | 'unavailable' | 'not-configured' | 'defect';

/**
 * The only error that leaves `db/`, except aborts and those of limits. Its message is for the log:
 * it may quote the database.
 */
export class DatabaseError extends Error {
  /** The runtime's own line for an aborted transfer has it. */
  override name = 'DatabaseError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Shutting down, crashed, starting up; too many connections; serialization failure, deadlock;
 * connection exceptions.
 */
const TRANSIENT_SQLSTATE = /^(?:57P0[123]|53300|40001|40P01|08...)$/;
/**
 * The query was cancelled, by `statement_timeout` or by an operator: a retry would take as long. Or
 * the login was refused, or there is no such database. For a wrong password or a deleted project,
 * Neon's proxy sends words without a code.
 */
const UNAVAILABLE_SQLSTATE = /^(?:57014|28...|3D...)$/;
const TRANSIENT_WITHOUT_CODE = /connection closed|error communicating|timeout/i;
/** workerd's error for a request that has used up the subrequests its plan allows. */
const OUT_OF_SUBREQUESTS = /too many subrequests/i;
/**
 * The words with which Neon's proxy refuses connections, with status 400 or 500 and without a code:
 * an exceeded quota, a compute that is disabled or deleted, a password that is wrong or whose
 * project is deleted, and an address that is not on the list; and those of `npm run gateway` for
 * another host, port or database.
 */
const NOT_AVAILABLE =
  /quota|invalid connection string|endpoint (?:has been|is) disabled|endpoint (?:could not|cannot) be found|password authentication failed|not allowed to connect/i;
const NOT_WORTH_RETRYING = /authenticat|password/i;

/**
 * Classifies a status of Neon's SQL endpoint other than 200 and 400. Neon's proxy sends 507 for a
 * response beyond the size limit, 413 for a request that is too large, and 500 for everything from
 * a failed wake-up to an exceeded quota. Of a gateway, or of what guards it, 401, 403 and a
 * redirect to a login mean that SQL_ENDPOINT_HEADERS are not accepted:
 * https://github.com/neondatabase/neon/blob/main/proxy/src/serverless/sql_over_http.rs Cloudflare
 * sends 520 to 530 for an endpoint that it cannot reach or whose response it cannot understand:
 * https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 */
export function failureOfStatus(status: number, body: string): DatabaseError {
  const message = `the SQL endpoint returned ${status}: ${body.slice(0, 500)}`;
  if (status === 401 || status === 403 || (status >= 300 && status < 400))
    return new DatabaseError('unavailable', message);
  if (status === 507) return new DatabaseError('too-large', message);
  if (/^(?:429|50[2-4]|52\d|530)$/.test(String(status)))
    return new DatabaseError('transient', message);
  if (status === 500) {
    if (NOT_AVAILABLE.test(body)) return new DatabaseError('unavailable', message);
    if (!NOT_WORTH_RETRYING.test(body)) return new DatabaseError('transient', message);
  }
  return new DatabaseError('defect', message);
}

/**
 * Classifies an error of the driver. Its errors for status 400 carry the SQLSTATE; a failed fetch
 * or a truncated body throws a plain TypeError or SyntaxError. Other errors, such as those
 * of an encoder, come from a truncated body too.
 */
export function failureOf(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof DateStyleError) return new DatabaseError('defect', error.message);
  if (error instanceof NeonDbError) {
    if (error.sourceError) return failureOf(error.sourceError);
    const { code, message } = error;
    return new DatabaseError(kindOf(code, message), `${code ?? ''} ${message}`.trim());
  }
  if (error instanceof SyntaxError)
    return new DatabaseError('transient', 'a response that is not JSON'); // the error's own message quotes it
  const message = String(error);
  return new DatabaseError(OUT_OF_SUBREQUESTS.test(message) ? 'unavailable' : 'transient', message);
}

/** Whether a result was longer than it may be. */
export const isTooLarge = (error: unknown) =>
  error instanceof DatabaseError && error.kind === 'too-large';

function kindOf(code: string | undefined, message: string): FailureKind {
  if (code ? UNAVAILABLE_SQLSTATE.test(code) : NOT_AVAILABLE.test(message)) return 'unavailable';
  const transient = code ? TRANSIENT_SQLSTATE.test(code) : TRANSIENT_WITHOUT_CODE.test(message);
  return transient ? 'transient' : 'defect';
}

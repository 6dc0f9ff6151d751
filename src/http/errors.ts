import { type FailureKind, isTooLarge } from '../db/errors.ts';
import type { LimitError } from '../limits/slots.ts';

/** The values of the header `X-Error-Code`, which never change, and the status of each. */
export const STATUS_BY_CODE = {
  invalid_token: 401,
  missing_survey: 400,
  invalid_parameter: 400,
  export_too_large: 400,
  no_responses: 500,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  database_unavailable: 503,
  overloaded: 503,
  http_version_not_supported: 505,
  internal_error: 500,
} as const;

type ErrorCode = keyof typeof STATUS_BY_CODE;

/**
 * The errors that clients can receive (docs/api.md, "Errors"). Any other error is a defect: the
 * client gets a fixed message with the request id, and the log the details.
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: (typeof STATUS_BY_CODE)[ErrorCode];

  constructor(
    code: ErrorCode,
    message: string,
    headers: Record<string, string> = {},
    status: ApiError['status'] = STATUS_BY_CODE[code],
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.status = status;
  }
}

/** Seconds. A suspended Neon compute wakes up in less. */
const retrySoon = { 'Retry-After': '5' };
/** Seconds: the period of both rate limits in wrangler.toml. */
const RATE_LIMIT_PERIOD = '10';
/**
 * The limit per account in wrangler.toml, which a Worker cannot read:
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export const RATE_LIMIT_POLICY = `"account";q=5000;w=${RATE_LIMIT_PERIOD}`;

/**
 * The key is missing, malformed, unknown, revoked or expired. The response does not reveal which.
 * Its challenge is never `Basic`, for which browsers show a dialog.
 *
 * @param wasSent whether the request has a key, right or wrong (RFC 6750 section 3.1)
 */
export const invalidToken = (wasSent = true) =>
  new ApiError('invalid_token', 'Invalid Token.', {
    'WWW-Authenticate': wasSent ? 'Bearer error="invalid_token"' : 'Bearer',
  });

/**
 * Aborts a request whose key is no longer valid. Before its first byte, it gets the same response
 * as any invalid key.
 */
export const revokedKey = () => Object.assign(invalidToken(), { name: 'RevokedKeyError' });

const rateLimited = (message: string) =>
  new ApiError('rate_limited', message, { 'Retry-After': RATE_LIMIT_PERIOD });

export const tooManyFailures = () =>
  rateLimited(
    'Too many requests from your network have an invalid or not recently used key. ' +
      'Check the key and try again in a few seconds.',
  );

export const tooManyHealthChecks = () =>
  rateLimited('Too many requests from your network. Try again in a few seconds.');

export const tooManyRequests = () =>
  rateLimited('Too many requests for this account. Try again in a few seconds.');

/** The error of a request that waited in vain. */
export function limitReached({ kind, held, isRetrying }: Omit<LimitError, keyof Error>): ApiError {
  if (isRetrying) return databaseUnavailable('transient');
  if (held === 0) return overloaded();
  const running: Record<LimitError['kind'], string> = {
    request: 'requests',
    file: 'exports',
    scan: 'scans of a whole selection',
    walk: 'counts and filtered pages',
    quick: 'queries',
    large: 'large responses',
  };
  return rateLimited(
    `This account already has ${held} ${running[kind]} running. Try again when one of them has ended.`,
  );
}

export const missingSurvey = () => new ApiError('missing_survey', 'No user, no responses!');

/** @param message names the parameter */
export const invalidParameter = (message: string) => new ApiError('invalid_parameter', message);

/** @param expected the accepted values, which complete the sentence "<name> must be …" */
export const badParameter = (name: string, expected: string) =>
  invalidParameter(`${name} must be ${expected}.`);

/** @param names percent-encoded and joined by commas */
export const unknownParameters = (names: string) =>
  invalidParameter(`Unknown parameters: ${names}.`);

/**
 * @param what completes the sentence "This selection has …"
 * @param filters the parameters that make it smaller
 */
export const tooLarge = (what: string, filters: string) =>
  new ApiError('export_too_large', `This selection has ${what}. Narrow it with ${filters}.`);

/** @param what what an Excel worksheet cannot hold */
export const notInWorksheet = (what: string, instead = 'download it as CSV') =>
  tooLarge(
    `${what}, which an Excel worksheet cannot hold`,
    `since, until, shortcode, question_ref or userid, or ${instead}`,
  );

/**
 * For `catch`: throws another error, if given, instead of the one for a result that exceeds its
 * limit.
 */
export const ifTooLarge = (instead?: ApiError) => (error: unknown) => {
  throw instead && isTooLarge(error) ? instead : error;
};

/** Likewise. @param what the rows of a response that is not streamed */
export const ifTooMany = (what: string, filters: string) =>
  ifTooLarge(tooLarge(`too many ${what} to return at once`, filters));

/**
 * The survey does not exist, belongs to another account, or has no responses yet.
 *
 * @param query the request's: `missing` is the status
 */
export const noResponses = (
  { survey, missing }: { readonly survey: string; readonly missing: '404' | '500' },
  email: string,
) =>
  new ApiError(
    'no_responses',
    `No responses were found for survey: ${survey} for user: ${email}`,
    {},
    missing === '404' ? 404 : 500,
  );

export const notFound = () =>
  new ApiError(
    'not_found',
    'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.',
  );

export const methodNotAllowed = (allowed: readonly string[]) =>
  new ApiError('method_not_allowed', `Method not allowed: use ${allowed.join(' or ')}.`, {
    Allow: allowed.join(', '),
  });

/**
 * @param kind `not-configured`: the operator has to set DATABASE_URL, or to correct it or
 * SQL_ENDPOINT
 */
export const databaseUnavailable = (kind: FailureKind) =>
  new ApiError(
    'database_unavailable',
    kind === 'not-configured'
      ? 'This service has no database: its operator has to configure one.'
      : 'The database cannot be reached at the moment. Please try again shortly.',
    retrySoon,
  );

/** This isolate has no memory left. */
export const overloaded = () =>
  new ApiError(
    'overloaded',
    'The service is busy with other requests at the moment. Please try again shortly.',
    retrySoon,
  );

/** A defect, whose details go to the log only. */
export const internalError = (requestId: string) =>
  new ApiError(
    'internal_error',
    `Something went wrong on our side. Please tell us this request id: ${requestId}`,
  );

/**
 * An aborted transfer over HTTP/1.0 looks complete, because the end of the connection is the end of
 * the body.
 */
export const httpVersionNotSupported = () =>
  new ApiError(
    'http_version_not_supported',
    'This response would be streamed, and HTTP/1.0 cannot signal that a transfer was aborted. Use HTTP/1.1 or newer; ' +
      'if there is an nginx proxy in between, configure it with "proxy_http_version 1.1".',
  );

/** An error that aborts a running transfer. The log has its name. */
export const namedError = (name: string, message: string) =>
  Object.assign(new Error(message), { name });

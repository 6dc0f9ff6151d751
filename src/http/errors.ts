import { DatabaseError } from '../db/errors.ts';
import type { LimitError } from '../limits/quota.ts';

/** The values of the header `X-Error-Code`. */
export const ERROR_CODES = [
  'invalid_token',
  'missing_survey',
  'invalid_parameter',
  'export_too_large',
  'no_responses',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'database_unavailable',
  'overloaded',
  'http_version_not_supported',
  'internal_error',
] as const;

/**
 * The errors that clients can receive (docs/api.md, "Errors"). Any other error is a defect: the client gets a fixed message with
 * the request id, and the log the details.
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: 400 | 401 | 404 | 405 | 429 | 500 | 503 | 505;
  /** The header `X-Error-Code`: tells errors of one status apart, and never changes. */
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ApiError['status'],
    code: ErrorCode,
    message: string,
    headers: Record<string, string> = {},
    cause?: unknown,
  ) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Seconds. A suspended Neon compute wakes up in less. */
const retryAfterDatabase = { 'Retry-After': '5' };
/** Seconds: the period of both rate limits in wrangler.toml. */
const retryAfterPeriod = { 'Retry-After': '10' };

/** The key is missing, malformed, unknown, revoked or expired. The response does not reveal which. */
export const invalidToken = () =>
  new ApiError(401, 'invalid_token', 'Invalid Token.', { 'WWW-Authenticate': 'Bearer' });

const rateLimited = (message: string) => new ApiError(429, 'rate_limited', message, retryAfterPeriod);

export const tooManyFailures = () =>
  rateLimited(
    'Too many requests from your network have an invalid or not recently used key. ' +
      'Check the key and try again in a few seconds.',
  );

export const tooManyHealthChecks = () =>
  rateLimited('Too many requests from your network. Try again in a few seconds.');

export const tooManyRequests = () => rateLimited('Too many requests for this account. Try again in a few seconds.');

/** What a request waited for in vain. */
export function limitReached({ resource, held, isByAccount }: Omit<LimitError, keyof Error>): ApiError {
  if (!isByAccount) return overloaded();
  const reasons: Record<LimitError['resource'], string> = {
    exports: `This account already has ${held} exports running.`,
    scans:
      'This account already has as many scans of a whole selection running, such as counts, as it can have at a time.',
    memory: 'Other requests of this account hold the memory that this one needs.',
    queries: 'Other requests of this account have been using the database, as many as can at a time, for too long.',
  };
  return rateLimited(`${reasons[resource]} Try again when one of them has ended.`);
}

export const missingSurvey = () => new ApiError(400, 'missing_survey', 'No user, no responses!');

/** @param expected the accepted values, which complete the sentence "<name> must be …" */
export const badParameter = (name: string, expected: string) => invalidParameter(`${name} must be ${expected}.`);

/** @param message names the parameter */
export const invalidParameter = (message: string) => new ApiError(400, 'invalid_parameter', message);

/** For a parameter that only a wide file has. */
export const onlyInWide = (name: string) => invalidParameter(`${name} can only be used with layout=wide.`);

/** @param names percent-encoded and joined by commas */
export const unknownParameters = (names: string) => invalidParameter(`Unknown parameters: ${names}.`);

/** @param why the reason, as the end of a sentence */
export const notInWide = (name: string, why: string) =>
  invalidParameter(`${name} cannot be used with layout=wide: ${why}.`);

/** @param most the largest number of questions in a wide file */
export const tooManyQuestions = (most: number) =>
  new ApiError(
    400,
    'export_too_large',
    `This selection has more than ${most} questions, or their names are too long for a wide file. ` +
      'Narrow it with shortcode or question_ref, or leave out layout=wide.',
  );

/** @param what the rows of a response that is not streamed. @param filters the parameters that make them fewer */
export const tooManyRows = (what: string, filters: string) =>
  new ApiError(
    400,
    'export_too_large',
    `This selection has too many ${what} to return at once. Narrow it with ${filters}.`,
  );

/** For `catch`: throws another error, if given, instead of the one for a result that exceeds its limit. */
export const ifTooLarge = (instead?: () => ApiError) => (error: unknown) => {
  throw instead && error instanceof DatabaseError && error.kind === 'too-large' ? instead() : error;
};

export const responseTooLarge = () =>
  new ApiError(
    400,
    'export_too_large',
    'This selection has an answer that is too large for a wide file. ' +
      'Narrow it with shortcode, question_ref or userid, or leave out layout=wide.',
  );

/** @param what what an Excel worksheet cannot hold */
const notInWorksheet = (what: string, instead = 'download it as CSV') =>
  new ApiError(
    400,
    'export_too_large',
    `This selection has ${what}, which an Excel worksheet cannot hold. ` +
      `Narrow it with since, until, shortcode, question_ref or userid, or ${instead}.`,
  );

/** @param most the largest number of records besides the header */
export const tooManyRecords = (most: number) => notInWorksheet(`more than ${most} records`);

/** @param most in UTF-16 code units */
export const cellTooLong = (most: number) => notInWorksheet(`a cell of more than ${most} characters`);

/** @param most in UTF-16 code units */
export const codebookCellTooLong = (most: number) =>
  notInWorksheet(`a codebook with a cell of more than ${most} characters`, 'leave out codebook');

/** The survey does not exist, belongs to another account, or has no responses yet. */
export const noResponses = (surveyName: string, email: string) =>
  new ApiError(500, 'no_responses', `No responses were found for survey: ${surveyName} for user: ${email}`);

export const notFound = () =>
  new ApiError(
    404,
    'not_found',
    'Not found: there is no such path. Those of the API begin with /api/v1, and /openapi.json lists them.',
  );

export const methodNotAllowed = (allowed: readonly string[]) =>
  new ApiError(405, 'method_not_allowed', `Method not allowed: use ${allowed.join(' or ')}.`, {
    Allow: allowed.join(', '),
  });

export const databaseUnavailable = (cause: unknown) =>
  new ApiError(
    503,
    'database_unavailable',
    'The database cannot be reached at the moment. Please try again shortly.',
    retryAfterDatabase,
    cause,
  );

/** The operator has to set DATABASE_URL. */
export const databaseNotConfigured = (cause: unknown) =>
  new ApiError(
    503,
    'database_unavailable',
    'This service has no database: its operator has to configure one.',
    retryAfterDatabase,
    cause,
  );

/** The memory of this isolate is taken. */
export const overloaded = () =>
  new ApiError(
    503,
    'overloaded',
    'The service is busy with other requests at the moment. Please try again shortly.',
    retryAfterDatabase,
  );

/** A defect. @param message without details, which go to the log only */
export const internalError = (message: string) => new ApiError(500, 'internal_error', message);

/** Aborts a running transfer whose key is no longer valid. */
export class RevokedKeyError extends Error {
  override name = 'RevokedKeyError';
}

/** Aborts a running transfer whose client has stopped reading. */
export class StalledClientError extends Error {
  override name = 'StalledClientError';
}

/** An aborted transfer over HTTP/1.0 looks complete, because the end of the connection is the end of the body. */
export const httpVersionNotSupported = () =>
  new ApiError(
    505,
    'http_version_not_supported',
    'This response would be streamed, and HTTP/1.0 cannot signal that a transfer was aborted. Use HTTP/1.1 or newer; ' +
      'if there is an nginx proxy in between, configure it with "proxy_http_version 1.1".',
  );

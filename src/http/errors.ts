/**
 * The errors that clients can receive (docs/api.md, "Errors"). Any other error is a defect: the client gets a fixed message with
 * the request id, and the log the details.
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: 400 | 401 | 404 | 405 | 429 | 500 | 503 | 505;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ApiError['status'], message: string, headers: Record<string, string> = {}, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.headers = headers;
  }
}

/** Seconds. A suspended Neon compute wakes up in less. */
const RETRY_AFTER_SECONDS = '5';

/** The key is missing, malformed, unknown, revoked or expired. The response does not reveal which. */
export const invalidToken = () => new ApiError(401, 'Invalid Token.', { 'WWW-Authenticate': 'Bearer' });

/** Seconds: the period of both rate limits in wrangler.toml. */
const RATE_LIMIT_PERIOD = '10';

export const tooManyFailures = () =>
  new ApiError(
    429,
    'Too many requests from your network have an invalid or not recently used key. ' +
      'Check the key and try again in a few seconds.',
    { 'Retry-After': RATE_LIMIT_PERIOD },
  );

export const tooManyRequests = () =>
  new ApiError(429, 'Too many requests with this key. Try again in a few seconds.', {
    'Retry-After': RATE_LIMIT_PERIOD,
  });

export const missingSurvey = () => new ApiError(400, 'No user, no responses!');

/** @param takes the accepted values, which complete the sentence "<name> must be …" */
export const badParameter = (name: string, takes: string) => new ApiError(400, `${name} must be ${takes}.`);

/** @param why the reason, as the end of a sentence */
export const notInWide = (name: string, why: string) =>
  new ApiError(400, `${name} cannot be used with layout=wide: ${why}.`);

/** @param most the largest number of questions in a wide file */
export const tooManyQuestions = (most: number) =>
  new ApiError(
    400,
    `This selection has more than ${most} questions, or their names are too long for a wide file. ` +
      'Narrow it with shortcode or question_ref, or leave out layout=wide.',
  );

export const responseTooLarge = () =>
  new ApiError(
    400,
    'This selection has an answer that is too large for a wide file. ' +
      'Narrow it with shortcode, question_ref or userid, or leave out layout=wide.',
  );

/** The survey does not exist, belongs to another account, or has no responses yet. */
export const noResponses = (surveyName: string, email: string) =>
  new ApiError(500, `No responses were found for survey: ${surveyName} for user: ${email}`);

export const notFound = () => new ApiError(404, 'Not found: there is no such path.');

export const methodNotAllowed = (allowed: readonly string[]) =>
  new ApiError(405, `Method not allowed: use ${allowed.join(' or ')}.`, { Allow: allowed.join(', ') });

export const databaseUnavailable = (cause: unknown) =>
  new ApiError(
    503,
    'The database cannot be reached at the moment. Please try again shortly.',
    { 'Retry-After': RETRY_AFTER_SECONDS },
    cause,
  );

/** Aborts a running transfer whose key is no longer valid. */
export class RevokedKeyError extends Error {
  override name = 'RevokedKeyError';
}

/** An aborted transfer over HTTP/1.0 looks complete, because the end of the connection is the end of the body. */
export const httpVersionNotSupported = () =>
  new ApiError(
    505,
    'This response would be streamed, and HTTP/1.0 cannot signal that a transfer was aborted. Use HTTP/1.1 or newer; ' +
      'if there is an nginx proxy in between, configure it with "proxy_http_version 1.1".',
  );

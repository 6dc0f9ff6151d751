/**
 * The catalogue of errors for callers (docs/api.md, "Errors"). Any other error is a defect: the caller gets a fixed text and the
 * request id, the log the details.
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: 400 | 401 | 404 | 405 | 429 | 500 | 503;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ApiError['status'], message: string, headers: Record<string, string> = {}, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.headers = headers;
  }
}

/** Seconds; Neon's compute wakes in less. */
const RETRY_AFTER_SECONDS = '5';

/** For a key that is missing, malformed, unknown, revoked or expired. These look alike, so that nobody learns which it is. */
export const invalidToken = () => new ApiError(401, 'Invalid Token.', { 'WWW-Authenticate': 'Bearer' });

/** Seconds: the period of both rate limits in wrangler.toml. */
const RATE_LIMIT_PERIOD = '10';

export const tooManyFailures = () =>
  new ApiError(
    429,
    'Too many requests with an invalid or not recently used key have come from your network. ' +
      'Please check the key and try again in a few seconds.',
    { 'Retry-After': RATE_LIMIT_PERIOD },
  );

export const tooManyRequests = () =>
  new ApiError(429, 'Too many requests have been made with this key. Please try again in a few seconds.', {
    'Retry-After': RATE_LIMIT_PERIOD,
  });

export const missingSurvey = () => new ApiError(400, 'No user, no responses!');

/** @param takes the values it accepts, to complete the sentence "<name> must be …" */
export const badParameter = (name: string, takes: string) => new ApiError(400, `${name} must be ${takes}.`);

/** @param why the reason, as the end of a sentence */
export const notInWide = (name: string, why: string) =>
  new ApiError(400, `${name} cannot be given with layout=wide: ${why}.`);

/** @param most the number of questions a wide file can have */
export const tooManyQuestions = (most: number) =>
  new ApiError(
    400,
    `This selection has more than ${most} questions, or longer names for them than a file with a column for each can have. ` +
      'Please narrow it with shortcode or question_ref, or leave out layout=wide.',
  );

export const responseTooLarge = () =>
  new ApiError(
    400,
    'This selection has an answer that is too large for a file with a column for each question. ' +
      'Please narrow it with shortcode, question_ref or userid, or leave out layout=wide.',
  );

/** For a survey that does not exist, belongs to another account, or has no responses yet. */
export const noResponses = (surveyName: string, email: string) =>
  new ApiError(500, `No responses were found for survey: ${surveyName} for user: ${email}`);

export const notFound = () => new ApiError(404, 'There is nothing at this address.');

export const methodNotAllowed = (allow: string) =>
  new ApiError(405, `This address answers ${allow} only.`, { Allow: allow });

export const databaseUnavailable = (cause: unknown) =>
  new ApiError(
    503,
    'The database cannot be reached at the moment. Please try again shortly.',
    { 'Retry-After': RETRY_AFTER_SECONDS },
    cause,
  );

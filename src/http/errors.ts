/**
 * The one catalogue of what can go wrong for a caller (docs/api.md, "Errors"). Anything thrown that is not an
 * {@link ApiError} is a defect: the caller gets fixed words and the request id, the log gets the detail.
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

/** Seconds after which a client may try again: Neon's compute wakes in less. */
const RETRY_AFTER_SECONDS = '5';

/** Missing, malformed, unknown, revoked or expired: all alike on purpose, so that nothing can be learned from the answer. */
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

/** @param takes what the parameter takes, as the rest of a sentence that starts with its name */
export const badParameter = (name: string, takes: string) => new ApiError(400, `${name} must be ${takes}.`);

/** @param why as the rest of a sentence */
export const notInWide = (name: string, why: string) =>
  new ApiError(400, `${name} cannot be given with layout=wide: ${why}.`);

/** @param most how many questions a wide file can have */
export const tooManyQuestions = (most: number) =>
  new ApiError(
    400,
    `This selection has more than ${most} questions, or longer names for them than a file with a column for each can have. ` +
      'Please narrow it with shortcode or question_ref, or leave out layout=wide.',
  );

export const answerTooLarge = () =>
  new ApiError(
    400,
    'This selection has an answer that is too large for a file with a column for each question. ' +
      'Please narrow it with shortcode, question_ref or userid, or leave out layout=wide.',
  );

/** One message for "not yours", "does not exist" and "has no responses yet". */
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

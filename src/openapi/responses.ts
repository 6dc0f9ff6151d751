import type {
  ContentObject,
  ResponseObject,
  ResponsesObject,
  SchemaObject,
} from 'openapi3-ts/oas31';
import type { Endpoint } from '../http/endpoint.ts';
import type { Kind } from '../limits/slots.ts';
import {
  type ApiError,
  badParameter,
  databaseUnavailable,
  httpVersionNotSupported,
  internalError,
  limitReached,
  invalidToken,
  missingSurvey,
  noResponses,
  overloaded,
  tooManyFailures,
  tooManyHealthChecks,
  tooManyRequests,
  unknownParameters,
} from '../http/errors.ts';
import { type HeaderName, headers, reference, withHeaders } from './headers.ts';

/** A response, with the headers of every response and these. */
const response = (
  description: string,
  content: ContentObject,
  ...names: HeaderName[]
): ResponseObject => ({
  description,
  headers: withHeaders(...names),
  content,
});

/** A body of JSON. @param schema one of the document's, by name, or another */
export const jsonContent = (schema: string | SchemaObject, example: unknown): ContentObject => ({
  'application/json': {
    schema: typeof schema === 'string' ? reference('schemas', schema) : schema,
    example,
  },
});

/** A body of another type. */
export const fileContent = (
  type: string,
  example: unknown,
  schema: SchemaObject = {},
): ContentObject => ({
  [type]: { schema: { type: 'string', ...schema }, example },
});

/** For endpoints that stream a body that is too large for one page of the database. */
export const streamedResponses = { 505: reference('responses', 'HttpVersionNotSupported') };

/** All responses of an endpoint: its own, and those that it shares with others. */
export function responsesOf({
  query,
  summary,
  body,
  headers: names = [],
  responses,
  security,
}: Endpoint): ResponsesObject {
  const isFile = !('application/json' in body);
  const disposition = isFile
    ? reference('headers', 'Content-Disposition')
    : { ...headers['Content-Disposition'], required: false };
  const success = response(`${summary}.`, body, ...names);

  return {
    200: {
      ...success,
      headers: {
        ...success.headers,
        ...((isFile || 'text/csv' in body) && { 'Content-Disposition': disposition }),
      },
    },
    ...(names.includes('ETag') && { 304: reference('responses', 'NotModified') }),
    400: reference('responses', 'BadParameter'),
    ...(!security && {
      401: reference('responses', 'InvalidToken'),
      429: reference('responses', 'TooManyRequests'),
    }),
    ...(query.includes('missing') && { 404: reference('responses', 'NoSurvey') }),
    500: reference('responses', query.includes('survey') ? 'NoResponses' : 'Defect'),
    503: reference('responses', 'DatabaseUnavailable'),
    ...(isFile && streamedResponses),
    ...responses,
  };
}

/** All responses other than 200, by the names used above. */
export const errorResponses = (): Record<string, ResponseObject> => {
  const none = noResponses(
    { survey: 'Health & Habits 2026 – Saúde', missing: '500' },
    'you@example.org',
  );
  const defect = internalError('6a0f8c1e-53c9-4ae3-9a4b-0f9c8a2f0f57');
  return {
    NotModified: {
      description:
        'The content has not changed since the response whose `ETag` is in `If-None-Match`.',
      headers: withHeaders('ETag'),
    },
    BadParameter: error(
      'A parameter is missing, invalid, or given twice; or unknown, with `Prefer: handling=strict`; or the query string is not percent-encoded UTF-8.',
      {
        missing: missingSurvey(),
        bad: badParameter('pageSize', 'an integer from 1 to 10000'),
        unknown: unknownParameters('pagesize'),
      },
    ),
    InvalidToken: error(
      'The key is missing, malformed, unknown, revoked or expired. It is checked before anything else.',
      { invalid: invalidToken() },
      'WWW-Authenticate',
    ),
    TooManyRequests: error(
      'Too many requests for this account, or too many without a valid key from this IP address; or too many exports, scans, database requests or bytes of this account at a time.',
      {
        account: tooManyRequests(),
        address: tooManyFailures(),
        requests: reached('request'),
        exports: reached('file'),
        scans: reached('scan'),
        walks: reached('walk'),
        queries: reached('quick'),
        large: reached('large'),
      },
      'Retry-After',
    ),
    TooManyHealthChecks: error(
      'Too many requests from this IP address.',
      { address: tooManyHealthChecks() },
      'Retry-After',
    ),
    Defect: error('An internal error. The message contains the request id to report.', { defect }),
    NoSurvey: error('With `missing=404`: the account has no such survey.', { none }),
    NoResponses: error(
      'The account has no such survey, or the survey has no responses yet. For an internal error, the message contains the request id to report.',
      { none, defect },
    ),
    DatabaseUnavailable: error(
      'The database cannot be reached at the moment, or the service has too many exports running.',
      { unavailable: databaseUnavailable('unavailable'), overloaded: overloaded() },
      'Retry-After',
    ),
    HttpVersionNotSupported: error(
      'The body would be streamed over HTTP/1.0, which cannot signal that a transfer was aborted.',
      { version: httpVersionNotSupported() },
    ),
  };
};

const reached = (kind: Kind) => limitReached({ kind, held: 4, isRetrying: false });

/** @param examples errors by a short name */
function error(
  description: string,
  examples: Record<string, Pick<ApiError, 'message'>>,
  ...names: HeaderName[]
): ResponseObject {
  const values = Object.entries(examples).map(([name, { message }]) => [
    name,
    { value: { error: { message } } },
  ]);
  const content = { schema: reference('schemas', 'Error'), examples: Object.fromEntries(values) };
  return response(description, { 'application/json': content }, 'X-Error-Code', ...names);
}

import type { ContentObject, ResponseObject, SchemaObject } from 'openapi3-ts/oas31';
import {
  type ApiError,
  badParameter,
  databaseUnavailable,
  httpVersionNotSupported,
  limitReached,
  invalidToken,
  methodNotAllowed,
  missingSurvey,
  noResponses,
  notFound,
  overloaded,
  tooManyFailures,
  tooManyHealthChecks,
  tooManyRequests,
  unknownParameters,
} from '../http/errors.ts';
import { type HeaderName, reference, withHeaders } from './headers.ts';

/** A response, with the headers of every response and these. */
export const response = (description: string, content: ContentObject, ...names: HeaderName[]): ResponseObject => ({
  description,
  headers: withHeaders(...names),
  content,
});

/** A body of JSON. @param schema one of the document's, by name, or another */
export const jsonContent = (schema: string | SchemaObject, example: unknown): ContentObject => ({
  'application/json': { schema: typeof schema === 'string' ? reference('schemas', schema) : schema, example },
});

/** A body of another type. */
export const fileContent = (type: string, example: unknown, schema: SchemaObject = {}): ContentObject => ({
  [type]: { schema: { type: 'string', ...schema }, example },
});

/** The response of a file. */
export const fileResponse = (content: ContentObject, ...names: HeaderName[]): ResponseObject =>
  response('The file.', content, 'Content-Disposition', ...names);

/** Errors of every endpoint. */
export const openResponses = {
  500: reference('responses', 'Defect'),
  503: reference('responses', 'DatabaseUnavailable'),
};

/** Errors of endpoints that need a key. */
export const keyResponses = {
  ...openResponses,
  400: reference('responses', 'BadParameter'),
  401: reference('responses', 'InvalidToken'),
  429: reference('responses', 'TooManyRequests'),
};

/** Further errors of endpoints with the parameter `survey`. */
export const surveyResponses = {
  500: reference('responses', 'NoResponses'),
};

/** For endpoints with `If-None-Match`. */
export const notModifiedResponse = { 304: reference('responses', 'NotModified') };

/** For endpoints that stream a body that is too large for one page of the database. */
export const streamedResponses = { 505: reference('responses', 'HttpVersionNotSupported') };

/** All responses other than 200, by the names used above. */
export const errorResponses = (): Record<string, ResponseObject> => {
  const none = noResponses('Health & Habits 2026 – Saúde', 'you@example.org');
  const defect = {
    message: 'Something went wrong on our side. Please tell us this request id: 6a0f8c1e-53c9-4ae3-9a4b-0f9c8a2f0f57',
  };
  return {
    NotModified: {
      description: 'The content has not changed since the response whose `ETag` is in `If-None-Match`.',
      headers: withHeaders('ETag'),
    },
    BadParameter: error(
      'A parameter is missing, invalid, or given twice; or unknown, with `Prefer: handling=strict`.',
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
    NotFound: error('Unknown path.', { nothing: notFound() }),
    MethodNotAllowed: error('A method other than GET or HEAD.', { method: methodNotAllowed(['GET', 'HEAD']) }, 'Allow'),
    TooManyRequests: error(
      'Too many requests for this account, or too many without a valid key from this IP address; or too many exports, scans, database requests or bytes of this account at a time.',
      {
        account: tooManyRequests(),
        address: tooManyFailures(),
        exports: reached('exports'),
        scans: reached('scans'),
        memory: reached('memory'),
        queries: reached('queries'),
      },
      'Retry-After',
    ),
    TooManyHealthChecks: error(
      'Too many requests from this IP address.',
      { address: tooManyHealthChecks() },
      'Retry-After',
    ),
    Defect: error('An internal error. The message contains the request id to report.', { defect }),
    NoResponses: error(
      'The account has no such survey, or the survey has no responses yet. For an internal error, the message contains the request id to report.',
      { none, defect },
    ),
    DatabaseUnavailable: error(
      'The database cannot be reached at the moment, or the service has too many exports running.',
      { unavailable: databaseUnavailable(undefined), overloaded: overloaded() },
      'Retry-After',
    ),
    HttpVersionNotSupported: error(
      'The body would be streamed over HTTP/1.0, which cannot signal that a transfer was aborted.',
      { version: httpVersionNotSupported() },
    ),
  };
};

const reached = (resource: Parameters<typeof limitReached>[0]['resource']) =>
  limitReached({ resource, held: 4, isByAccount: true });

/** @param examples errors by a short name */
function error(
  description: string,
  examples: Record<string, Pick<ApiError, 'message'>>,
  ...headers: HeaderName[]
): ResponseObject {
  const values = Object.entries(examples).map(([name, { message }]) => [name, { value: { error: { message } } }]);
  const content = { schema: reference('schemas', 'Error'), examples: Object.fromEntries(values) };
  return response(description, { 'application/json': content }, 'X-Error-Code', ...headers);
}

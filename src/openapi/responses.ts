import type { ResponseObject } from 'openapi3-ts/oas31';
import {
  type ApiError,
  badParameter,
  databaseUnavailable,
  invalidToken,
  methodNotAllowed,
  missingSurvey,
  noResponses,
  notFound,
  tooManyFailures,
  tooManyRequests,
} from '../http/errors.ts';
import { type HeaderName, withHeaders } from './headers.ts';
import { reference } from './reference.ts';

/** What goes wrong everywhere. */
export const openResponses = {
  500: reference('responses', 'Defect'),
  503: reference('responses', 'DatabaseUnavailable'),
};

/** What goes wrong where a key is needed. */
export const keyResponses = {
  ...openResponses,
  401: reference('responses', 'InvalidToken'),
  429: reference('responses', 'TooManyRequests'),
};

/** What else goes wrong where a survey is asked for. */
export const surveyResponses = {
  400: reference('responses', 'BadParameter'),
  500: reference('responses', 'NoResponses'),
};

/** Where a client may ask whether what it has is current. */
export const notModifiedResponse = { 304: reference('responses', 'NotModified') };

/** All that is not 200, by the names used above. Made when the document is: see document.ts. */
export const errorResponses = (): Record<string, ResponseObject> => {
  const defect =
    'Something went wrong on our side. Please tell us this request id: 6a0f8c1e-53c9-4ae3-9a4b-0f9c8a2f0f57';
  const none = noResponses('Health & Habits 2026 – Saúde', 'you@example.org').message;
  return {
    NotModified: { description: 'What you have, by `If-None-Match`, is current.', headers: withHeaders('ETag') },
    BadParameter: response('A parameter is missing, or is not what it must be: the message says which and what.', {
      missing: missingSurvey(),
      bad: badParameter('pageSize', 'an integer from 1 to 10000'),
    }),
    InvalidToken: response(
      'The key is missing, malformed, unknown, revoked or expired. Comes before everything else.',
      { invalid: invalidToken() },
      ['WWW-Authenticate'],
    ),
    NotFound: response('No such address.', { nothing: notFound() }),
    MethodNotAllowed: response('Another method than GET or HEAD.', { method: methodNotAllowed('GET, HEAD') }, [
      'Allow',
    ]),
    TooManyRequests: response(
      'Too many requests with this key, or without a valid one from this address.',
      { key: tooManyRequests(), address: tooManyFailures() },
      ['Retry-After'],
    ),
    Defect: response('Something is wrong on our side: the message holds the request id to report.', {
      defect: { message: defect },
    }),
    NoResponses: response(
      'The account has no such survey, or it has no responses yet. Or something is wrong on our side: the message then holds the request id to report.',
      { none: { message: none }, defect: { message: defect } },
    ),
    DatabaseUnavailable: response(
      'The database cannot be reached at the moment.',
      { unavailable: databaseUnavailable(undefined) },
      ['Retry-After'],
    ),
  };
};

/** @param examples errors by a short name */
function response(
  description: string,
  examples: Record<string, Pick<ApiError, 'message'>>,
  headers: readonly HeaderName[] = [],
): ResponseObject {
  const values = Object.entries(examples).map(([name, { message }]) => [name, { value: { error: { message } } }]);
  return {
    description,
    headers: withHeaders(...headers),
    content: { 'application/json': { schema: reference('schemas', 'Error'), examples: Object.fromEntries(values) } },
  };
}

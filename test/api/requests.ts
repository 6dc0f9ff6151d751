import { expect } from 'vitest';
import {
  type ApiResponse,
  type Page,
  type RequestOptions,
  errorBody,
  fetchApi,
  query,
} from '../support/api.ts';
import type { TestSurvey } from '../support/data.ts';

export type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Requests an endpoint about a survey, such as `/responses`, with a key of its account. */
export const get = (
  path: string,
  { name, account: { key } }: TestSurvey,
  parameters: Parameters = {},
  options: RequestOptions = {},
): Promise<ApiResponse> =>
  fetchApi(path + query({ survey: name, ...parameters }), { key, ...options });

/** The responses of a page. */
export const rowsOf = ({ text }: { readonly text: string }) => (JSON.parse(text) as Page).responses;

/** Checks an error's status, its code and its body, byte for byte. */
export function expectError(
  { status, headers, text }: ApiResponse,
  expected: number,
  code: string,
  message: string,
): void {
  const found = [status, headers.get('X-Error-Code'), headers.get('Content-Type'), text];
  expect(found).toEqual([expected, code, 'application/json', errorBody(message)]);
}

/** Checks the error of a request for which the database could not be reached. */
export function expectUnavailable(response: ApiResponse): void {
  const message = 'The database cannot be reached at the moment. Please try again shortly.';
  expectError(response, 503, 'database_unavailable', message);
  expect(response.headers.get('Retry-After')).toBe('5');
}

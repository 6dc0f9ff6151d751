import { expect } from 'vitest';
import { type ApiResponse, origin } from '../support/api.ts';
import { description, expectConformance } from '../support/conformance.ts';
import type { HostileRequest } from './hostile-requests.ts';

/** Internals that no response may contain: stack traces, error classes, SQL, table names, addresses, keys, hashes. */
const INTERNAL = new RegExp(
  [
    String.raw`\n\s+at |\.[jt]s:\d|file:/|node_modules|(?:Type|Range|Reference|Syntax|Neon\w*|Zod)Error`,
    String.raw`\bselect\s|\bfrom (?:surveys|responses|users|api_keys)\b|api_keys|survey_export_worker|neon|sqlstate`,
    String.raw`postgres(?:ql)?:|127\.0\.0\.1|sres_\w{20}|\b[0-9a-f]{64}\b`,
  ].join('|'),
  'i',
);

/** All headers that the service and workerd send. No request may cause others. */
const HEADERS = new Set([
  ...['access-control-allow-headers', 'access-control-allow-methods', 'access-control-allow-origin'],
  ...['access-control-expose-headers', 'access-control-max-age', 'allow', 'cache-control', 'connection'],
  ...['content-disposition', 'content-encoding', 'content-length', 'content-security-policy', 'content-type', 'etag'],
  ...['link', 'location', 'preference-applied', 'referrer-policy', 'server-timing', 'timing-allow-origin'],
  ...['transfer-encoding', 'vary', 'www-authenticate', 'x-content-type-options', 'x-error-code'],
  ...['x-ignored-parameters', 'x-request-id', 'x-total-count'],
]);

/**
 * Checks that a response is documented and reveals no internals.
 *
 * @returns whether workerd refused the request before it reached the service
 */
export async function expectHarmless({ method, target }: HostileRequest, response: ApiResponse): Promise<boolean> {
  const { status, headers, text } = response;
  expect(`${[...headers].join('\n')}\n${text}`).not.toMatch(INTERNAL);
  expect([...headers.keys()].filter((name) => !HEADERS.has(name))).toEqual([]);
  if (!headers.has('X-Request-Id')) {
    expect(`${status} ${text}`).toMatch(/^(?:4\d\d|501|505) /);
    return true;
  }

  expect([200, 204, 302, 304, 400, 401, 404, 405, 500]).toContain(status);
  if (status === 500 && method !== 'HEAD')
    expect(text).toMatch(/^\{"error":\{"message":"No responses were found for survey: /);
  if (status >= 400 && method !== 'HEAD') {
    expect(JSON.parse(text)).toEqual({ error: { message: expect.any(String) as string } });
    expect(headers.get('Content-Type')).toBe('application/json');
  }
  const path = target.replace(/[?#].*$/s, '');
  const known = path in (await description(origin())).paths;
  if (known) await expectConformance(origin(), { method, path }, response);
  return false;
}

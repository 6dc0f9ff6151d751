import {
  type Described,
  type DescribedResponse,
  type Description,
  faults,
  resolve,
} from './api-description.ts';
import type { ApiResponse } from './api.ts';

const descriptions: Record<string, Promise<Description>> = {};

/**
 * The /openapi.json of the service at an origin, requested once. The connection is not kept open,
 * as in `fetchService`.
 */
export const description = (origin: string): Promise<Description> =>
  (descriptions[origin] ??= fetch(`${origin}/openapi.json`, {
    headers: { Connection: 'close' },
  }).then(async (response) => resolve((await response.json()) as Record<string, unknown>)));

/**
 * Checks a response against /openapi.json: its status, headers, type and body must be those
 * described for its path and method.
 *
 * @throws Error that lists the differences
 */
export async function expectConformance(
  origin: string,
  { method, path }: { method: string; path: string },
  response: ApiResponse,
): Promise<void> {
  const pathname = path
    .replace(/[?#].*$/s, '')
    .replace(/(?<=.)\/$/, '')
    .replace(/\/{2,}/g, '/');
  // The document describes neither the pages nor CORS preflights.
  if (/^\/(?:$|docs|assets\/)/.test(pathname) || (method === 'OPTIONS' && response.status === 204))
    return;

  const described = responsesFor(await description(origin), method, pathname)[response.status];
  const wrong = described
    ? differences(described, method, response)
    : ['the status is not described'];
  if (wrong.length > 0) {
    throw new Error(
      `the ${response.status} response to ${method} ${pathname} does not conform to /openapi.json: ${wrong.join('; ')}`,
    );
  }
}

function responsesFor(
  { paths, components: { responses, schemas } }: Description,
  method: string,
  pathname: string,
): Readonly<Record<string, DescribedResponse | undefined>> {
  const operation = paths[pathname]?.[method.toLowerCase()];
  if (operation) return operation.responses;
  const { DatabaseUnavailable, InvalidToken, TooManyRequests } = responses;
  // The document describes 404 and 405 in words, since they belong to no operation. The key is
  // checked first, whatever the path.
  const content = { 'application/json': { schema: schemas['Error'] ?? {} } };
  const error: DescribedResponse = { description: 'an unknown path or method', content };
  const refused = pathname in paths ? { 405: error } : { 404: error };
  return pathname.startsWith('/api/v1')
    ? { ...refused, 401: InvalidToken, 429: TooManyRequests, 503: DatabaseUnavailable }
    : refused;
}

function differences(
  { headers = {}, content = {} }: DescribedResponse,
  method: string,
  response: ApiResponse,
): string[] {
  const type = response.headers.get('Content-Type')?.replace(/;.*$/s, '') ?? '';
  const body = content[type];
  const differing = Object.entries(headers).flatMap(([name, header]) =>
    headerFaults(name, header, response.headers),
  );

  if (method === 'HEAD' || response.status === 304) {
    return response.bytes.length === 0 ? differing : [...differing, 'it has a body'];
  }

  if (!body) return [...differing, `a body of type ${type} is not described`];
  return [...differing, ...bodyFaults(type, body, response.text).map((fault) => `body: ${fault}`)];
}

function headerFaults(name: string, { required, schema }: Described, headers: Headers): string[] {
  const value = headers.get(name);
  if (value === null) return required ? [`${name} is missing`] : [];
  return faults(schema, schema['type'] === 'integer' ? Number(value) : value).map(
    (fault) => `${name}: ${fault}`,
  );
}

function bodyFaults(type: string, { schema }: Described, text: string): string[] {
  if (type !== 'application/json') return faults(schema, text);
  try {
    return faults(schema, JSON.parse(text));
  } catch (error) {
    return [(error as Error).message];
  }
}

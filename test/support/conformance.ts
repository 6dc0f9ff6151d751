import type { Answer } from './api.ts';
import {
  type DescribedHeader,
  type DescribedResponse,
  type Description,
  type Schema,
  resolve,
} from './api-description.ts';
import { faults } from './schema-check.ts';

const descriptions = new Map<string, Promise<Description>>();

/** What the service at an origin says of itself. Asked once. */
export function description(origin: string): Promise<Description> {
  let asked = descriptions.get(origin);
  if (!asked) {
    asked = fetch(`${origin}/openapi.json`).then(async (answer) => resolve(await answer.json()));
    descriptions.set(origin, asked);
  }
  return asked;
}

/**
 * Holds an answer against /openapi.json: its status, headers, type and body have to be what is said there of its path and
 * method.
 *
 * @throws Error that says in what it differs
 */
export async function expectAsDescribed(
  origin: string,
  { method, path }: { method: string; path: string },
  answer: Answer,
): Promise<void> {
  const pathname = path.replace(/[?#].*$/s, '').replace(/\/{2,}/g, '/');
  // The reference page is for people, and a preflight for browsers.
  if (pathname.startsWith('/docs') || (method === 'OPTIONS' && answer.status === 204)) return;

  const described = responsesFor(await description(origin), method, pathname)[answer.status];
  const wrong = described ? differences(described, method, answer) : ['no such status is described'];
  if (wrong.length > 0) {
    throw new Error(
      `${method} ${pathname} was answered with ${answer.status}, and not as /openapi.json says: ${wrong.join('; ')}`,
    );
  }
}

function responsesFor(
  { paths, components: { responses } }: Description,
  method: string,
  pathname: string,
): Readonly<Record<string, DescribedResponse | undefined>> {
  const operation = paths[pathname]?.[method.toLowerCase()];
  if (operation) return operation.responses;
  const { DatabaseUnavailable, InvalidToken, MethodNotAllowed, NotFound, TooManyRequests } = responses;
  // The key is checked first, whatever is asked.
  const refused = pathname in paths ? { 405: MethodNotAllowed } : { 404: NotFound };
  return pathname.startsWith('/api/v1')
    ? { ...refused, 401: InvalidToken, 429: TooManyRequests, 503: DatabaseUnavailable }
    : refused;
}

function differences({ headers = {}, content = {} }: DescribedResponse, method: string, answer: Answer): string[] {
  const type = answer.headers.get('Content-Type')?.replace(/;.*$/s, '') ?? '';
  const body = content[type];
  const differing = Object.entries(headers).flatMap(([name, header]) => headerFaults(name, header, answer.headers));
  if (method === 'HEAD' || answer.status === 304) {
    return answer.bytes.length === 0 ? differing : [...differing, 'it has a body'];
  }
  if (!body) return [...differing, `a body of type ${type} is not described`];
  return [...differing, ...bodyFaults(type, body.schema, answer.text).map((fault) => `body: ${fault}`)];
}

function headerFaults(name: string, { required, schema }: DescribedHeader, headers: Headers): string[] {
  const value = headers.get(name);
  if (value === null) return required ? [`${name} is missing`] : [];
  return faults(schema, schema['type'] === 'integer' ? Number(value) : value).map((fault) => `${name}: ${fault}`);
}

function bodyFaults(type: string, schema: Schema, text: string): string[] {
  if (type !== 'application/json') return faults(schema, text);
  try {
    return faults(schema, JSON.parse(text));
  } catch (error) {
    return [(error as Error).message];
  }
}

import type { Context } from 'hono';
import type { ContentObject, ResponsesObject } from 'openapi3-ts/oas31';
import type { HeaderName } from '../openapi/headers.ts';
import type { AppEnv } from './context.ts';
import { invalidParameter, unknownParameters } from './errors.ts';
import { type ParameterName, type Values, isDefault, parameters } from './parameters.ts';
import { prefersStrictHandling } from './prefer.ts';

/** The base path of the endpoints that need a key. */
export const BASE_PATH = '/api/v1';
/** The longest value of `X-Ignored-Parameters`, in bytes. */
const MAX_IGNORED_LENGTH = 2048;

/** An endpoint's part of the OpenAPI document. */
interface Description<Name extends ParameterName> {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Under {@link BASE_PATH}, if it needs a key. */
  readonly path: string;
  /** Its query parameters. */
  readonly query: readonly Name[];
  /** Empty if it needs no key. */
  readonly security?: [];
  /** The body of a successful response. */
  readonly body: ContentObject;
  /** Its headers, without those of all responses, and of all files. */
  readonly headers?: readonly HeaderName[];
  /** Other responses, without those that the endpoint shares with most. */
  readonly responses?: ResponsesObject;
}

/** A GET endpoint, which serves HEAD as well. */
export interface Endpoint extends Description<ParameterName> {
  /** @throws ApiError 400 for the first invalid parameter */
  readonly respond: (c: Context<AppEnv>) => Promise<Response>;
}

/** Defines an endpoint. `handle` gets the parsed query parameters. */
export function endpoint<Name extends ParameterName>({
  handle,
  refused = {},
  ...description
}: Description<Name> & {
  /** The messages of errors for parameters of other endpoints, by `<name>=<value>`, or by name. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly handle: (c: Context<AppEnv>, query: Values<Name>) => Promise<Response>;
}): Endpoint {
  const { path, query, security } = description;
  return {
    ...description,
    path: security ? path : BASE_PATH + path,
    async respond(c) {
      checkEncoding(c.req.url);
      if (!security) checkNames(c, query, refused);

      const valueOf = (name: Name) => parameters[name].parse(c.req.queries(name) ?? [], name);
      const values = Object.fromEntries(query.map((name) => [name, valueOf(name)]));
      return handle(c, values as Values<Name>);
    },
  };
}

/**
 * @throws ApiError 400 unless the query string is percent-encoded UTF-8: Hono would decode it in
 * part
 */
function checkEncoding(url: string): void {
  try {
    decodeURIComponent(new URL(url).search);
  } catch {
    throw invalidParameter(
      'The query string must be percent-encoded UTF-8; a percent sign itself is %25.',
    );
  }
}

/**
 * Sets `ignored` and the header `X-Ignored-Parameters`.
 *
 * @throws ApiError 400 for a refused parameter; with `Prefer: handling=strict`, for those that the
 * endpoint does not know, unless all have their defaults
 */
function checkNames(
  c: Context<AppEnv>,
  query: readonly string[],
  refused: Readonly<Record<string, string>>,
): void {
  const isStrict = prefersStrictHandling(c.req.header('Prefer') ?? '');
  if (isStrict) c.header('Preference-Applied', 'handling=strict');

  const given = c.req.queries();
  const refusal = Object.entries(given)
    .filter(([name, values]) => !isDefault(name, values))
    .flatMap(([name, values]) => [name].concat(values.map((value) => `${name}=${value}`)))
    .find((key) => Object.hasOwn(refused, key));
  const known = new Set([...query, '', refusal?.split('=')[0]]);
  const ignored = Object.keys(given).filter((name) => !known.has(name));
  c.set('ignored', ignored);

  const names = encodedList(ignored);
  if (isStrict && !refusal && !ignored.every((name) => isDefault(name, given[name])))
    throw unknownParameters(names || 'their names are too long to be listed');
  if (names !== '') c.header('X-Ignored-Parameters', names);
  if (refusal) throw invalidParameter(refused[refusal] as string);
}

/** Names, percent-encoded and joined by commas: as many as fit the header. */
function encodedList(names: readonly string[]): string {
  const list: string[] = [];
  for (const name of names) {
    list.push(encodeURIComponent(name));
    if (list.join().length > MAX_IGNORED_LENGTH) list.pop();
  }
  return list.join();
}

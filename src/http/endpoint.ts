import type { Context } from 'hono';
import type { ResponsesObject } from 'openapi3-ts/oas31';
import type { AppEnv } from './context.ts';
import { invalidParameter, unknownParameters } from './errors.ts';
import type { Parameters, Values } from './parse-parameter.ts';
import { prefersStrictHandling } from './prefer.ts';

/** The longest value of `X-Ignored-Parameters`, in bytes. */
const MAX_IGNORED_LENGTH = 2048;

/** An endpoint's part of the OpenAPI document. */
interface Description {
  readonly path: string;
  /** Its name in generated clients. */
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description: string;
  /** Its query parameters. */
  readonly query: Parameters;
  /** Empty if it needs no key. */
  readonly security?: [];
  /** Its responses, without those that it shares with other endpoints. */
  readonly responses: ResponsesObject;
}

/** A GET endpoint, which serves HEAD as well. */
export interface Endpoint extends Description {
  /** @throws ApiError 400 for the first invalid parameter */
  readonly respond: (c: Context<AppEnv>) => Promise<Response>;
}

/** Defines an endpoint. `handle` gets the parsed query parameters. */
export function endpoint<Q extends Parameters>({
  handle,
  refused = {},
  ...description
}: Description & {
  readonly query: Q;
  /** The messages of errors for parameters of other endpoints, by `<name>=<value>`, or by name. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly handle: (c: Context<AppEnv>, query: Values<Q>) => Promise<Response>;
}): Endpoint {
  return {
    ...description,
    async respond(c) {
      if (!description.security) checkNames(c, description.query, refused);
      return handle(c, parseQuery(description.query, c));
    },
  };
}

/**
 * Sets `ignored` and the header `X-Ignored-Parameters`.
 *
 * @throws ApiError 400 for a refused parameter; with `Prefer: handling=strict`, for those that the endpoint does not know
 */
function checkNames(c: Context<AppEnv>, query: Parameters, refused: Readonly<Record<string, string>>): void {
  const isStrict = prefersStrictHandling(c.req.header('Prefer') ?? '');
  if (isStrict) c.header('Preference-Applied', 'handling=strict');
  const given = c.req.queries();
  for (const [name, values] of Object.entries(given)) {
    const key = [name, ...values.map((value) => `${name}=${value}`)].find((one) => Object.hasOwn(refused, one));
    if (key !== undefined) throw invalidParameter(refused[key] as string);
  }
  const ignored = Object.keys(given).filter((name) => name !== '' && !Object.hasOwn(query, name));
  c.set('ignored', ignored);
  if (ignored.length === 0) return;
  const names = encodedList(ignored);
  if (isStrict) throw unknownParameters(names || 'their names are too long to be listed');
  if (names !== '') c.header('X-Ignored-Parameters', names);
}

/** Names, percent-encoded and joined by commas: as many as fit the header. */
function encodedList(names: readonly string[]): string {
  let list = '';
  for (const name of names) {
    const longer = `${list}${list && ','}${encodeURIComponent(name)}`;
    if (longer.length <= MAX_IGNORED_LENGTH) list = longer;
  }
  return list;
}

function parseQuery<Q extends Parameters>(query: Q, c: Context<AppEnv>): Values<Q> {
  const values = Object.entries(query).map(([name, { parse }]) => [name, parse(c.req.queries(name) ?? [])]);
  return Object.fromEntries(values) as Values<Q>;
}

import { type OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AppEnv } from './context.ts';
import { invalidParameter, missingSurvey, unknownParameters } from './errors.ts';
import { prefersStrictHandling } from './prefer.ts';

type Responses = RouteConfig['responses'];

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
  readonly query: z.ZodObject;
  /** Empty if it needs no key. */
  readonly security?: [];
  /** Its responses, without those that it shares with other endpoints. */
  readonly responses: Responses;
}

/** A GET endpoint, which serves HEAD as well. */
export interface Endpoint extends Description {
  /** @throws ApiError 400 for the first invalid parameter */
  readonly respond: (c: Context<AppEnv>) => Promise<Response>;
}

/** Defines an endpoint. `handle` gets the parsed query parameters. */
export function endpoint<Q extends z.ZodObject>({
  handle,
  refused = {},
  ...description
}: Description & {
  readonly query: Q;
  /** The messages of errors for parameters of other endpoints, by `<name>=<value>`, or by name. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly handle: (c: Context<AppEnv>, query: z.output<Q>) => Promise<Response>;
}): Endpoint {
  return {
    ...description,
    async respond(c) {
      if (!description.security) checkNames(c, description.query, refused);
      return handle(c, parseQuery(description.query, c));
    },
  };
}

/** Adds an endpoint to the app and to its OpenAPI description. @param responses those shared with other endpoints */
export function addEndpoint(
  app: OpenAPIHono<AppEnv>,
  { query, respond, ...description }: Endpoint,
  responses: Responses,
): void {
  app.openAPIRegistry.registerPath({
    ...description,
    method: 'get',
    request: { query },
    responses: { ...responses, ...description.responses },
  });
  app.get(description.path, respond);
}

/**
 * Sets `ignored` and the header `X-Ignored-Parameters`.
 *
 * @throws ApiError 400 for a refused parameter; with `Prefer: handling=strict`, for those that the endpoint does not know
 */
function checkNames(c: Context<AppEnv>, { shape }: z.ZodObject, refused: Readonly<Record<string, string>>): void {
  const isStrict = prefersStrictHandling(c.req.header('Prefer') ?? '');
  if (isStrict) c.header('Preference-Applied', 'handling=strict');
  const given = c.req.queries();
  for (const [name, values] of Object.entries(given)) {
    const key = [name, ...values.map((value) => `${name}=${value}`)].find((one) => Object.hasOwn(refused, one));
    if (key !== undefined) throw invalidParameter(refused[key] as string);
  }
  const ignored = Object.keys(given).filter((name) => name !== '' && !Object.hasOwn(shape, name));
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

function parseQuery<Q extends z.ZodObject>(query: Q, c: Context<AppEnv>): z.output<Q> {
  const given = Object.entries(c.req.queries()).map(([name, values]) => [name, values.length > 1 ? values : values[0]]);
  const result = query.safeParse(Object.fromEntries(given));
  if (result.success) return result.data;
  const message = result.error.issues[0]?.message ?? '';
  throw message === missingSurvey().message ? missingSurvey() : invalidParameter(message);
}

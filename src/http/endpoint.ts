import { type OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AppEnv } from './context.ts';
import { ApiError } from './errors.ts';

type Responses = RouteConfig['responses'];

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
  ...description
}: Description & {
  readonly query: Q;
  readonly handle: (c: Context<AppEnv>, query: z.output<Q>) => Promise<Response>;
}): Endpoint {
  return { ...description, respond: (c) => handle(c, parseQuery(description.query, c)) };
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

function parseQuery<Q extends z.ZodObject>(query: Q, c: Context<AppEnv>): z.output<Q> {
  const given = Object.entries(c.req.queries()).map(([name, values]) => [name, values.length > 1 ? values : values[0]]);
  const result = query.safeParse(Object.fromEntries(given));
  if (!result.success) throw new ApiError(400, result.error.issues[0]?.message ?? '');
  return result.data;
}

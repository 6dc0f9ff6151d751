import { type OpenAPIHono, type RouteConfig, createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AppEnv } from './context.ts';
import { ApiError } from './errors.ts';

type Responses = RouteConfig['responses'];

/** An address of the API: what the OpenAPI document says of it, what it takes, and what it does. */
export interface Endpoint<Q extends z.ZodObject = z.ZodObject> {
  readonly path: string;
  /** Its name in clients that are generated from the document. */
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description: string;
  /** Its parameters. */
  readonly query: Q;
  /** Empty where no key is needed. */
  readonly security?: [];
  /** Its answers, but for those that it has in common with others. */
  readonly responses: Responses;
  readonly handle: (c: Context<AppEnv>, query: z.output<Q>) => Promise<Response>;
}

/** For type inference alone. */
export const endpoint = <Q extends z.ZodObject>(definition: Endpoint<Q>): Endpoint<Q> => definition;

/** The route’s own types cannot be followed through a generic parameter: {@link Endpoint} has them. */
const withoutType = (query: z.ZodObject): z.ZodObject => query;

/**
 * Adds an endpoint to the app: GET and HEAD, its parameters checked first.
 *
 * @param responses answers that it has in common with others
 * @throws ApiError 400, from the handler, for the first parameter that is not what it must be
 */
export function addEndpoint<Q extends z.ZodObject>(
  app: OpenAPIHono<AppEnv>,
  { handle, query, ...definition }: Endpoint<Q>,
  responses: Responses,
): void {
  const route = createRoute({
    ...definition,
    method: 'get',
    request: { query: withoutType(query) },
    responses: { ...responses, ...definition.responses },
  });
  app.openapi(
    route,
    (c) => handle(c as unknown as Context<AppEnv>, c.req.valid('query') as z.output<Q>),
    (result) => {
      if (!result.success) throw new ApiError(400, result.error.issues[0]?.message ?? '');
    },
  );
}

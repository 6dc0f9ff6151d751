import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { sendBody } from '../http/send.ts';
import type { AppEnv } from '../http/context.ts';
import { endpoint } from '../http/endpoint.ts';
import { describeApp } from '../openapi/document.ts';
import { withHeaders } from '../openapi/headers.ts';

/** GET /openapi.json: the description of an app, generated on the first request. */
export function openApi(app: OpenAPIHono<AppEnv>) {
  let document: string | undefined;
  return endpoint({
    path: '/openapi.json',
    operationId: 'getDescription',
    tags: ['Service'],
    security: [],
    summary: 'The OpenAPI description',
    description: 'Returns this API in OpenAPI 3.1, generated from the definitions that validate its parameters.',
    query: z.object({}),
    responses: {
      200: {
        description: 'The description.',
        headers: withHeaders(),
        content: {
          'application/json': {
            schema: { type: 'object', required: ['openapi', 'info', 'paths'] },
            example: {
              openapi: '3.1.1',
              info: { title: 'Survey Response Export Service', version: '1.0.0' },
              paths: {},
            },
          },
        },
      },
    },

    async handle(c) {
      document ??= JSON.stringify(describeApp(app));
      return sendBody(c, document, { 'Content-Type': 'application/json' });
    },
  });
}

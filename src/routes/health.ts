import { sendBody } from '../http/send.ts';
import { ping } from '../db/health.ts';
import { endpoint } from '../http/endpoint.ts';
import { withHeaders } from '../openapi/headers.ts';
import { openResponses } from '../openapi/responses.ts';

/** GET /healthz: 200 if the database responds, otherwise 503. For load balancers and start scripts; needs no key. */
export const health = endpoint({
  path: '/healthz',
  operationId: 'getHealth',
  tags: ['Service'],
  security: [],
  summary: 'Health check',
  description: 'Returns 200 if the service reaches its database, otherwise 503.',
  query: {},
  responses: {
    ...openResponses,
    200: {
      description: 'The service reaches its database.',
      headers: withHeaders(),
      content: {
        'application/json': {
          schema: { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'ok' } } },
          example: { status: 'ok' },
        },
      },
    },
  },

  async handle(c) {
    await ping(c.var.db, c.var.signal);
    return sendBody(c, '{"status":"ok"}', { 'Content-Type': 'application/json' });
  },
});

import { z } from '@hono/zod-openapi';
import { sendBody } from '../http/send.ts';
import { ping } from '../db/health.ts';
import { endpoint } from '../http/endpoint.ts';
import { withHeaders } from '../openapi/headers.ts';

/** GET /healthz: 200 if the database responds, otherwise 503. Needs no key; for load balancers and start scripts. */
export const health = endpoint({
  path: '/healthz',
  operationId: 'getHealth',
  tags: ['Service'],
  security: [],
  summary: 'Whether the service reaches its database',
  description: '200 when it does, 503 when it does not.',
  query: z.object({}),
  responses: {
    200: {
      description: 'It does.',
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

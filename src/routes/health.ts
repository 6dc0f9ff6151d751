import { addressOf, enforceLimit } from '../auth/rate-limits.ts';
import { ping } from '../db/health.ts';
import { endpoint } from '../http/endpoint.ts';
import { tooManyHealthChecks } from '../http/errors.ts';
import { sendBody } from '../http/send.ts';
import { reference } from '../openapi/headers.ts';
import { jsonContent } from '../openapi/responses.ts';
import { object } from '../openapi/schemas.ts';

/**
 * GET /healthz: 200 if the database responds, otherwise 503. For load balancers and start scripts;
 * needs no key.
 */
export const health = endpoint({
  path: '/healthz',
  operationId: 'getHealth',
  security: [],
  summary: 'Health check',
  description: 'Returns 200 if the service reaches its database, otherwise 503.',
  query: [],
  body: jsonContent(object({ status: { type: 'string', const: 'ok' } }), { status: 'ok' }),
  responses: { 429: reference('responses', 'TooManyHealthChecks') },

  async handle(c) {
    // The prefix counts the health checks of an address apart from its failed authentications.
    const key = `healthz ${addressOf(c.req.raw.headers)}`;
    await enforceLimit(c.env.FAILURE_LIMIT, key, c.var.requestId, tooManyHealthChecks);
    await ping(c.var.connection);
    return sendBody(c, '{"status":"ok"}');
  },
});

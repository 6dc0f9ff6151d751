import { endpoint } from '../http/endpoint.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent, response } from '../openapi/responses.ts';

/** GET /key: whose key the request has, and when it expires. */
export const key = endpoint({
  path: '/key',
  operationId: 'getKey',
  tags: ['Key'],
  summary: 'Whose key this is',
  description: 'Returns the account that the key belongs to, and when the key expires.',
  query: [],
  responses: { 200: response('The key’s account.', jsonContent('Key', examples.key)) },

  async handle(c) {
    const { email, expires } = c.var.account;
    const body = { email, expires: expires === null ? null : new Date(expires) };
    return sendBody(c, JSON.stringify(body), { 'Content-Type': 'application/json' });
  },
});

import { describeKeyLimits } from '../auth/key-limits.ts';
import { endpoint } from '../http/endpoint.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent } from '../openapi/responses.ts';

/** GET /key: whose key the request has, when it expires, and what it sees. */
export const key = endpoint({
  path: '/key',
  operationId: 'getKey',
  summary: 'Whose key this is',
  description:
    'Returns the account that the key belongs to, when the key expires, and what it sees.',
  query: [],
  body: jsonContent('Key', examples.key),

  async handle(c) {
    const { email, expires, limits } = c.var.account;
    const described = {
      email,
      expires: expires === null ? null : new Date(expires),
      limits: limits && (await describeKeyLimits(limits)),
    };

    return sendBody(c, JSON.stringify(described));
  },
});

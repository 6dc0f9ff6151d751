import { sendBody } from '../http/send.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { describeEndpoints } from '../openapi/document.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent } from '../openapi/responses.ts';

/**
 * GET /openapi.json: the description of all endpoints, generated on the first request.
 *
 * @param endpoints the others
 */
export function openApi(endpoints: readonly Endpoint[]): Endpoint {
  let document: string | undefined;
  const self: Endpoint = endpoint({
    path: '/openapi.json',
    operationId: 'getDescription',
    security: [],
    summary: 'The OpenAPI description',
    description: 'Returns this API in OpenAPI 3.1.',
    query: [],
    body: jsonContent({ type: 'object' }, examples.openApi),

    async handle(c) {
      document ??= JSON.stringify(describeEndpoints([...endpoints, self]));
      return sendBody(c, document);
    },
  });
  return self;
}

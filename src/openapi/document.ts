import type {
  OpenAPIObject,
  OperationObject,
  ResponseObject,
  PathItemObject,
} from 'openapi3-ts/oas31';
import { license, version } from '../../package.json';
import type { Endpoint } from '../http/endpoint.ts';
import { parameters } from '../http/parameters.ts';
import type { Parameter } from '../http/parse-parameter.ts';
import { headers, reference } from './headers.ts';
import { errorResponses, responsesOf } from './responses.ts';
import { schemas } from './schemas.ts';

const DESCRIPTION = `Lists a research account’s surveys and exports their responses, as pages of JSON or as one streamed file of any size.

The API is read-only: all endpoints accept GET and HEAD. Send your key with every request: \`Authorization: Bearer sres_…\`, or as the password of \`Authorization: Basic\` where a program asks for a user name and a password. A key belongs to one account and returns only that account’s data.

An unknown path returns 404. A method other than GET or HEAD returns 405 with \`Allow\`. Under \`/api/v1\` both need a key. Unknown query parameters are ignored and listed in \`X-Ignored-Parameters\`; with the request header \`Prefer: handling=strict\` they are errors (400). The body of every error is \`{"error":{"message":"…"}}\`.

A file is complete when its transfer is complete. A failure after the first byte aborts the transfer; a file never contains an error message.`;

/** The groups of endpoints. One belongs to the first whose paths have its own. */
const TAGS = [
  { name: 'Surveys', description: 'The account’s surveys.', paths: /\/(?:surveys|form-data)$/ },
  { name: 'Responses', description: 'The participants’ responses.', paths: /\/responses\b/ },
  { name: 'Key', description: 'The key of the request.', paths: /\/key$/ },
  { name: 'Service', description: 'The service itself. No key needed.', paths: /^/ },
];

/**
 * Describes endpoints in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1), with the definitions
 * that check their parameters.
 */
export function describeEndpoints(endpoints: readonly Endpoint[]): OpenAPIObject {
  const pathItem = (endpoint: Endpoint): [string, PathItemObject] => {
    const { path, operationId, summary, description, security, query } = endpoint;
    const get = {
      tags: TAGS.filter(({ paths }) => paths.test(path))
        .map(({ name }) => name)
        .slice(0, 1),
      operationId,
      summary,
      description,
      ...(security && { security }),
      parameters: query.map((name) => reference('parameters', name)),
      responses: responsesOf(endpoint),
    };
    return [path, { get, head: headOf(get) }];
  };
  const parameter = ([name, { required = false, description = '', schema, example }]: [
    string,
    Parameter<unknown>,
  ]) => [name, { name, in: 'query', required, description, schema, example }];
  const key = {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sres_ or sresl_, and 49 letters and digits',
    description: 'An API key, issued by the operator of the service.',
  } as const;
  const password = {
    type: 'http',
    scheme: 'basic',
    description: 'The key as the password, with any user name, or as the user name.',
  } as const;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Survey Response Export Service',
      version,
      description: DESCRIPTION,
      license: { name: license, identifier: license },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    security: [{ key: [] }, { password: [] }],
    paths: Object.fromEntries(endpoints.map(pathItem)),
    components: {
      securitySchemes: { key, password },
      parameters: Object.fromEntries(Object.entries(parameters).map(parameter)),
      headers,
      schemas,
      responses: errorResponses(),
    },
  };
}

/** HEAD returns the same as GET, without the body. */
function headOf({
  operationId,
  summary,
  responses = {},
  ...rest
}: OperationObject): OperationObject {
  const { content: _, ...success } = responses['200'] as ResponseObject;
  return {
    ...rest,
    operationId: `${operationId}Headers`,
    summary: `${summary}: headers only`,
    responses: { ...responses, 200: success },
  };
}

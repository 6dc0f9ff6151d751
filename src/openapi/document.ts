import type { OpenAPIHono } from '@hono/zod-openapi';
import type {
  LicenseObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31';
import { license, version } from '../../package.json';
import type { AppEnv } from '../http/context.ts';
import { headers } from './headers.ts';
import { errorResponses } from './responses.ts';
import { schemas } from './schemas.ts';

const DESCRIPTION = `Lists a research account’s surveys and hands out their responses: as pages of JSON, or as one streamed file of any size.

Everything is GET (HEAD works too) and read-only. Send your key with every request: \`Authorization: Bearer sres_…\`. A key belongs to one account, and every byte it gets belongs to that account.

An address that does not exist is answered 404, another method than GET or HEAD 405 with \`Allow\`; below \`/api/v1\` both need a key. The body of every error is \`{"error":{"message":"…"}}\`.

A file is complete when its transfer is: after the first byte a failure breaks the connection off, and there is never an error message in a file.`;

/**
 * Describes the app in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1): its endpoints, from the definitions by which
 * their parameters are checked, and what they have in common.
 */
export function describeApp(app: OpenAPIHono<AppEnv>): OpenAPIObject {
  const {
    paths,
    webhooks: _,
    ...rest
  } = app.getOpenAPI31Document({
    openapi: '3.1.1',
    info: {
      title: 'Survey Response Export Service',
      version,
      description: DESCRIPTION,
      license: { name: license, identifier: license } as LicenseObject, // the type is behind OpenAPI 3.1
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [
      { name: 'Surveys', description: 'What the account has.' },
      { name: 'Responses', description: 'What participants have answered.' },
      { name: 'Service', description: 'About the service itself; without a key.' },
    ],
    security: [{ key: [] }],
  });

  const parameters: Record<string, ParameterObject> = {};
  for (const item of Object.values(paths ?? {})) {
    const get = item.get as OperationObject;
    get.parameters = get.parameters?.map((parameter) => shared(tidy(parameter as ParameterObject), parameters)) ?? [];
    item.head = headOf(get);
  }
  const key = {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sres_ and 49 letters and digits',
    description: 'An API key. It is issued by those who run the service.',
  } as const;
  return {
    ...rest,
    paths: paths ?? {},
    components: { securitySchemes: { key }, parameters, headers, schemas, responses: errorResponses() },
  };
}

/** The generator says a parameter's description twice, and its example where JSON Schema has none. */
function tidy({ schema, ...parameter }: ParameterObject): ParameterObject {
  const { example, description: _, ...rest } = schema as SchemaObject;
  return { ...parameter, schema: rest, ...(example === undefined ? {} : { example }) };
}

/** A reference to the parameter, which is put among the shared ones; the parameter itself if another has its name. */
function shared(parameter: ParameterObject, all: Record<string, ParameterObject>): ParameterObject | { $ref: string } {
  const { name } = parameter;
  all[name] ??= parameter;
  return JSON.stringify(all[name]) === JSON.stringify(parameter)
    ? { $ref: `#/components/parameters/${name}` }
    : parameter;
}

/** HEAD is GET without the body. */
function headOf({ operationId, summary, responses = {}, ...rest }: OperationObject): OperationObject {
  const { content: _, ...success } = responses['200'] as ResponseObject;
  return {
    ...rest,
    operationId: `${operationId}Headers`,
    summary: `${summary}: the headers alone`,
    responses: { ...responses, 200: success },
  };
}

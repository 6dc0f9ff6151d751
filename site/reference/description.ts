import type {
  OpenAPIObject,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31';

/** Loads `/openapi.json`, without what would make the reference long or its requests wrong. */
export async function loadDescription(): Promise<OpenAPIObject> {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`/openapi.json: status ${response.status}`);
  const description = (await response.json()) as OpenAPIObject;
  const { info, paths = {}, components = {} } = description;

  // HEAD operations double the list.
  for (const path of Object.values(paths)) delete path.head;

  const names = removeCommonHeaders([
    ...Object.values(paths).flatMap(({ get }) => Object.values(get?.responses ?? {})),
    ...Object.values(components.responses ?? {}),
  ]);
  info.description += `\n\nEvery response has the headers ${names.join(', ')}.`;

  // A dialog for the key is enough.
  description.security = [{ key: [] }];
  delete components.securitySchemes?.['password'];

  for (const parameter of Object.values(components.parameters ?? {}))
    describeValues(parameter as ParameterObject);

  return description;
}

/** @returns the names of the headers */
function removeCommonHeaders(all: readonly (ResponseObject | { $ref: string })[]): string[] {
  const responses = all.filter((one): one is ResponseObject => !('$ref' in one));
  const [first = {}] = responses.map(({ headers }) => headers);
  const common = Object.keys(first).filter((name) =>
    responses.every(({ headers = {} }) => name in headers),
  );

  for (const { headers = {} } of responses) for (const name of common) delete headers[name];
  return common.map((name) => `\`${name}\``);
}

/**
 * Adds the default and the example of a parameter to its description. Swagger UI would send them
 * with every request.
 */
function describeValues(parameter: ParameterObject): void {
  const schema = parameter.schema as SchemaObject;
  const { default: byDefault } = schema;
  const examples = [parameter.example ?? []].flat().filter((example) => example !== byDefault);

  if (byDefault !== undefined) parameter.description += ` Default: \`${byDefault}\`.`;
  if (examples.length > 0) parameter.description += ` Example: \`${examples.join('`, `')}\`.`;

  delete schema.default;
  delete parameter.example;
}

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
  ] as ResponseObject[]);
  info.description += `\n\nEvery response has the headers ${names.join(', ')}.`;

  // A dialog for the key is enough.
  description.security = [{ key: [] }];
  delete components.securitySchemes?.['password'];

  for (const parameter of Object.values(components.parameters ?? {}))
    describeValues(parameter as ParameterObject);

  return description;
}

/** @returns the names of the headers, which all responses have */
function removeCommonHeaders(responses: readonly ResponseObject[]): string[] {
  // a reference has none
  const all = responses.map(({ headers }) => headers).filter((headers) => headers !== undefined);
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((one) => name in one));

  for (const headers of all) for (const name of names) delete headers[name];
  return names.map((name) => `\`${name}\``);
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

import type {
  HeaderObject,
  OpenAPIObject,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31';

export type Description = OpenAPIObject;
export type Schema = SchemaObject;
export type Parameter = ParameterObject;
export type Response = ResponseObject;
export type Header = HeaderObject;

/** An endpoint. */
export interface Operation {
  readonly id: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly parameters: readonly Parameter[];
  readonly responses: readonly [status: string, response: Response][];
}

/** Loads /openapi.json and replaces every reference with its target. */
export async function loadDescription(): Promise<Description> {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`/openapi.json: status ${response.status}`);
  const description: unknown = await response.json();
  return resolve(description, description) as Description;
}

function resolve(root: unknown, node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string') {
    const path = node.$ref.slice('#/'.length).split('/');
    return resolve(
      root,
      path.reduce((at, name) => (at as Readonly<Record<string, unknown>>)[name], root),
    );
  }
  if (Array.isArray(node)) return node.map((item) => resolve(root, item));
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, resolve(root, value)]),
  );
}

/** The operations, which are all GET, in the order of the description. */
export function operationsOf({ paths, security }: Description): Operation[] {
  return Object.entries(paths ?? {}).map(([path, { get = {} }]) => ({
    id: get.operationId ?? path,
    path,
    tag: get.tags?.[0] ?? '',
    summary: get.summary ?? '',
    description: get.description ?? '',
    needsKey: (get.security ?? security ?? []).length > 0,
    parameters: (get.parameters ?? []) as Parameter[],
    responses: Object.entries<Response>(get.responses ?? {}),
  }));
}

/** The headers that every response of every operation has, by name. */
export function commonHeaders(operations: readonly Operation[]): Record<string, Header> {
  const all = operations.flatMap(({ responses }) =>
    responses.map(([, { headers = {} }]) => headers),
  );
  const [first = {}, ...others] = all;
  const common = Object.entries(first).filter(([name]) =>
    others.every((headers) => name in headers),
  );
  return Object.fromEntries(common) as Record<string, Header>;
}

/** Describes a schema's type and bounds. */
export function typeOf(schema: Schema): string {
  const {
    type = 'any JSON',
    format,
    anyOf = [],
    items,
    minimum,
    maximum,
    maxItems,
    const: constant,
  } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (type === 'array')
    return `${typeOf((items ?? {}) as Schema)}; one per line${maxItems ? `, at most ${maxItems} times` : ''}`;
  const formats = [format, ...anyOf.map((one) => (one as Schema).format)]
    .filter(Boolean)
    .join(' or ');
  const range =
    minimum === undefined
      ? ''
      : maximum === undefined
        ? ` from ${minimum}`
        : ` ${minimum} to ${maximum}`;
  return `${[type].flat().join(' or ')}${formats && ` (${formats})`}${range}`;
}

/** The parts of an OpenAPI document that the tests use, with all references resolved. */
export interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, DescribedResponse>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

export interface DescribedParameter {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  readonly content?: Readonly<Record<string, DescribedBody>>;
}

export interface DescribedHeader {
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface DescribedBody {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export type Schema = Readonly<Record<string, unknown>>;

/** Resolves every reference. */
export function resolve(document: unknown): Description {
  const follow = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(follow);
    if ('$ref' in node) return follow(at(document, String(node.$ref)));
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, follow(value)]));
  };
  return follow(document) as Description;
}

/** The node at a JSON pointer (RFC 6901), written as a URL fragment. */
function at(document: unknown, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/');
  let node = document;
  for (const name of names) {
    node = (node as Record<string, unknown>)[name.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (node === undefined) throw new Error(`${reference} points to nothing`);
  }
  return node;
}

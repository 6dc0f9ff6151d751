/**
 * @typedef {import('openapi3-ts/oas31').OpenAPIObject} Description
 * @typedef {import('openapi3-ts/oas31').SchemaObject} Schema
 * @typedef {import('openapi3-ts/oas31').ParameterObject} Parameter
 * @typedef {import('openapi3-ts/oas31').ResponseObject} Response
 * @typedef {import('openapi3-ts/oas31').HeaderObject} Header
 * @typedef {object} Operation
 * @property {string} id
 * @property {string} path
 * @property {string} tag
 * @property {string} summary
 * @property {string} description
 * @property {boolean} needsKey
 * @property {Parameter[]} parameters
 * @property {[status: string, response: Response][]} responses
 */

/**
 * Loads /openapi.json and replaces every reference with its target.
 *
 * @returns {Promise<Description>}
 */
export async function loadDescription() {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`/openapi.json: status ${response.status}`);
  const description = await response.json();
  return resolve(description, description);
}

/**
 * @param {any} root
 * @param {any} node
 * @returns {any}
 */
function resolve(root, node) {
  if (typeof node !== 'object' || node === null) return node;
  if (typeof node.$ref === 'string') {
    const path = node.$ref.slice('#/'.length).split('/');
    return resolve(
      root,
      path.reduce((/** @type {any} */ at, /** @type {string} */ name) => at[name], root),
    );
  }
  if (Array.isArray(node)) return node.map((item) => resolve(root, item));
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolve(root, value)]));
}

/**
 * The GET operations, in the order of the description.
 *
 * @param {Description} description
 * @returns {Operation[]}
 */
export function operationsOf({ paths, security }) {
  return Object.entries(paths ?? {}).flatMap(([path, { get }]) =>
    get
      ? [
          {
            id: get.operationId ?? path,
            path,
            tag: get.tags?.[0] ?? '',
            summary: get.summary ?? '',
            description: get.description ?? '',
            needsKey: (get.security ?? security ?? []).length > 0,
            parameters: /** @type {Parameter[]} */ (get.parameters ?? []),
            responses: Object.entries(get.responses ?? {}),
          },
        ]
      : [],
  );
}

/**
 * The headers that every response of every operation has.
 *
 * @param {Operation[]} operations
 * @returns {Record<string, Header>}
 */
export function commonHeaders(operations) {
  const all = operations.flatMap(({ responses }) => responses.map(([, { headers = {} }]) => headers));
  const [first = {}, ...others] = all;
  const common = Object.entries(first).filter(([name]) => others.every((headers) => name in headers));
  return /** @type {Record<string, Header>} */ (Object.fromEntries(common));
}

/**
 * Describes a schema's type and bounds.
 *
 * @param {Schema} schema
 * @returns {string}
 */
export function typeOf(schema) {
  const { type = 'any JSON', format, anyOf = [], items, minimum, maximum, maxItems, const: constant } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (type === 'array')
    return `${typeOf(/** @type {Schema} */ (items ?? {}))}, repeatable${maxItems ? `, at most ${maxItems} times` : ''}`;
  const formats = [format, ...anyOf.map((one) => /** @type {Schema} */ (one).format)].filter(Boolean).join(' or ');
  const range = minimum === undefined ? '' : maximum === undefined ? ` from ${minimum}` : ` ${minimum} to ${maximum}`;
  return `${[type].flat().join(' or ')}${formats && ` (${formats})`}${range}`;
}

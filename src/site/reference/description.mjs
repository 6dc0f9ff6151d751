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
 * The service's description of itself, with every reference replaced by what it points to.
 *
 * @returns {Promise<Description>}
 */
export async function loadDescription() {
  const answer = await fetch('/openapi.json');
  if (!answer.ok) throw new Error(`/openapi.json: ${answer.status}`);
  const description = await answer.json();
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
 * What can be asked by GET, in the order of the description.
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
 * The headers that every answer has, whatever was asked.
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
 * A schema's type and bounds in words.
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

import { typeOf } from './description.mjs';
import { element, listing, prose } from '../shared/dom.mjs';
import { statusBadge } from './result.mjs';

/**
 * @typedef {import('./description.mjs').Schema} Schema
 * @typedef {import('./description.mjs').Header} Header
 */

/**
 * Lists an endpoint's responses by status.
 *
 * @param {import('./description.mjs').Operation} operation
 * @param {Record<string, Header>} common headers, which are not repeated
 */
export function responsesView({ responses }, common) {
  const views = responses.map(([status, { description, headers = {}, content = {} }]) =>
    element(
      'details',
      {},
      element('summary', {}, statusBadge(status), ' ', ...prose(description)),
      ...Object.entries(content).flatMap(([type, body]) => bodyOf(type, body)),
      ...headersOf(/** @type {[string, Header][]} */ (Object.entries(headers)).filter(([name]) => !(name in common))),
    ),
  );
  return element('div', { className: 'responses' }, element('h4', {}, 'Responses'), ...views);
}

/**
 * @param {string} type
 * @param {import('openapi3-ts/oas31').MediaTypeObject} body
 * @returns {HTMLElement[]}
 */
const bodyOf = (type, { schema, example, examples = {} }) => [
  element('p', {}, 'Body: ', element('code', {}, type)),
  ...fieldsOf(/** @type {Schema} */ (schema)),
  ...[example, ...Object.values(examples).map((one) => 'value' in one && one.value)].filter(Boolean).map(exampleView),
];

/** @param {[name: string, header: Header][]} headers */
const headersOf = (headers) => (headers.length === 0 ? [] : [element('p', {}, 'Headers'), headerList(headers)]);

/** @typedef {{ name: string, type: string, description: string }} Term */

/**
 * Lists the fields of an object, or of the objects in an array at any depth.
 *
 * @param {Schema} schema
 * @returns {HTMLElement[]}
 */
function fieldsOf(schema) {
  const inner = /** @type {Schema | undefined} */ (schema.items);
  if (inner) return [element('p', {}, 'An array. Each element:'), ...fieldsOf(inner)];
  const fields = /** @type {[string, Schema][]} */ (Object.entries(schema.properties ?? {}));
  const [first] = fields;
  if (!first) return [];
  const terms = fields.map(([name, field]) => ({
    name,
    type: field.type === 'array' ? 'array' : typeOf(field),
    description: field.description ?? '',
  }));
  return [termList(terms), ...(fields.length === 1 ? fieldsOf(first[1]) : [])];
}

/** @param {[name: string, header: Header][]} headers */
export const headerList = (headers) =>
  termList(
    headers.map(([name, { schema = {}, description = '' }]) => ({
      name,
      type: typeOf(/** @type {Schema} */ (schema)),
      description,
    })),
  );

/** @param {Term[]} terms */
const termList = (terms) =>
  element(
    'dl',
    {},
    ...terms.map(({ name, type, description }) =>
      element(
        'div',
        {},
        element('dt', {}, element('code', {}, name), ' ', element('span', { className: 'type' }, type)),
        element('dd', {}, ...prose(description)),
      ),
    ),
  );

/** @param {unknown} example */
const exampleView = (example) =>
  listing(typeof example === 'string' ? example.trimEnd() : JSON.stringify(example, undefined, 2), 'Example');

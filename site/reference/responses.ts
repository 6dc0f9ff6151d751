import type { MediaTypeObject } from 'openapi3-ts/oas31';
import { type Header, type Operation, type Schema, typeOf } from './description.ts';
import { html, listing, prose } from '../shared/dom.ts';
import { statusBadge } from './result.ts';

/** A name and its description, in a list. */
interface Term {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/**
 * Lists an endpoint's responses by status.
 *
 * @param common headers by name, which are not repeated
 */
export function responsesView(
  { responses }: Operation,
  common: Readonly<Record<string, Header>>,
): HTMLElement {
  const views = responses.map(([status, { description, headers = {}, content = {} }]) =>
    html.details(
      {},
      html.summary({}, statusBadge(status), ' ', ...prose(description)),
      ...Object.entries(content).flatMap(([type, body]) => bodyOf(type, body)),
      ...headersOf(
        (Object.entries(headers) as [string, Header][]).filter(([name]) => !(name in common)),
      ),
    ),
  );
  return html.div('responses', html.h4({}, 'Responses'), ...views);
}

const bodyOf = (
  type: string,
  { schema, example, examples = {} }: MediaTypeObject,
): HTMLElement[] => [
  html.p({}, 'Body: ', html.code({}, type)),
  ...fieldsOf(schema as Schema),
  ...[example, ...Object.values(examples).map((one) => 'value' in one && one.value)]
    .filter(Boolean)
    .map(exampleView),
];

const headersOf = (headers: readonly [name: string, header: Header][]) =>
  headers.length === 0 ? [] : [html.p({}, 'Headers'), headerList(headers)];

/**
 * Lists the fields of an object, or of the objects in an array, and then those of their own objects
 * and arrays.
 *
 * @param array what an array is called
 */
function fieldsOf(
  schema: Schema,
  array: readonly (Node | string)[] = ['the array'],
): HTMLElement[] {
  const inner = schema.items as Schema | undefined;
  if (inner) return [html.p({}, 'Each element of ', ...array, ':'), ...fieldsOf(inner)];
  const fields = Object.entries(schema.properties ?? {}) as [string, Schema][];
  if (fields.length === 0) return [];
  const terms = fields.map(([name, field]) => ({
    name,
    type: field.type === 'array' ? 'array' : typeOf(field),
    description: field.description ?? '',
  }));
  return [
    termList(terms),
    ...fields.flatMap(([name, field]) => fieldsOf(field, [html.code({}, name)])),
  ];
}

export const headerList = (headers: readonly [name: string, header: Header][]) =>
  termList(
    headers.map(([name, { schema = {}, description = '' }]) => ({
      name,
      type: typeOf(schema as Schema),
      description,
    })),
  );

const termList = (terms: readonly Term[]) =>
  html.dl(
    {},
    ...terms.map(({ name, type, description }) =>
      html.div(
        {},
        html.dt({}, html.code({}, name), ' ', html.span('type', type)),
        html.dd({}, ...prose(description)),
      ),
    ),
  );

const exampleView = (example: unknown) =>
  listing(
    typeof example === 'string' ? example.trimEnd() : JSON.stringify(example, undefined, 2),
    'Example',
  );

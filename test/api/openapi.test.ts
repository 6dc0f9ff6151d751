import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { KINDS, type Kind } from '../../src/limits/slots.ts';
import * as catalogue from '../../src/http/errors.ts';
import { PATHS } from '../chaos/requests/request.ts';
import { fetchService } from '../support/api.ts';
import {
  type DescribedResponse,
  type Operation,
  type Schema,
  faults,
  resolve,
} from '../support/api-description.ts';
import { storeSurvey } from '../support/data.ts';
import { get } from './requests.ts';

const document = JSON.parse((await fetchService('/openapi.json')).text) as Record<string, unknown>;
const description = resolve(document);
const survey = await storeSurvey([{}]);

const operations: readonly Operation[] = Object.values(description.paths).flatMap((path) =>
  Object.values(path),
);

/** The operations with GET under the base path, by path after it. */
const endpoints = Object.entries(description.paths).flatMap(
  ([path, { get: operation }]): [string, Operation][] =>
    operation && path.startsWith('/api/v1/') ? [[path.replace('/api/v1', ''), operation]] : [],
);

/** All responses: those of operations and the shared ones. */
const responses: readonly DescribedResponse[] = [description.components, ...operations].flatMap(
  (part) => Object.values(part.responses),
);

describe('the description at /openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(description.openapi).toMatch(/^3\.1\./);
  });

  test('has exactly the paths of the service, with GET and HEAD', () => {
    const paths = [...PATHS.map((path) => `/api/v1${path}`), '/healthz', '/openapi.json'];
    expect(Object.keys(description.paths).toSorted()).toEqual(paths.toSorted());
    for (const methods of Object.values(description.paths))
      expect(Object.keys(methods)).toEqual(['get', 'head']);
  });

  test('has the parameters that the service validates', async () => {
    for (const [path, { parameters = [] }] of endpoints) {
      for (const { name, schema } of parameters) {
        if (name === 'survey' || schema['type'] === 'array') continue;
        const { status, text } = await get(path, survey, { [name]: '?' });
        expect([status, text]).toEqual([400, expect.stringContaining(`${name} must be `)]);
      }
    }
  });

  test('has components that are all used, and names that differ in more than case, since generators make types of them', () => {
    const { securitySchemes: _, ...groups } = document['components'] as Record<string, object>;
    const text = JSON.stringify(document);
    const paths = Object.entries(groups).flatMap(([group, parts]) =>
      Object.keys(parts).map((name) => `#/components/${group}/${name}`),
    );
    expect(paths.filter((path) => !text.includes(`"${path}"`))).toEqual([]);
    const names = [
      ...paths
        .filter((path) => !path.includes('/headers/'))
        .map((path) => path.split('/').at(-1) ?? ''),
      ...operations.map(({ operationId }) => operationId),
    ];
    const lower = names.map((name) => name.toLowerCase());
    expect(lower.filter((name, i) => lower.indexOf(name) !== i)).toEqual([]);
  });
});

/**
 * Checks that the members of a value are those that its schema requires, in their order, and so are
 * those within them.
 */
function expectOrder(schema: Schema, value: unknown): void {
  const {
    items,
    required,
    properties = {},
  } = schema as Partial<Record<'items' | 'required' | 'properties', Schema>>;
  if (Array.isArray(value)) return expectOrder(items ?? {}, value[0]);
  if (typeof value !== 'object' || value === null || !required) return;
  expect(Object.keys(value)).toEqual(required);
  for (const [name, member] of Object.entries(value))
    expectOrder(properties[name] as Schema, member);
}

test('it has the members and the columns of bodies in their order', async () => {
  for (const [path, operation] of endpoints) {
    const { 'application/json': json, 'text/csv': csv } = operation.responses['200']?.content ?? {};
    if (json) expectOrder(json.schema, JSON.parse((await get(path, survey)).text));
    if (!csv) continue;
    const { text } = await get(path, survey, { format: 'csv' });
    expect(text.split('\n')[0]).toBe(String(csv.example).split('\n')[0]);
  }
});

describe('its examples', () => {
  test('of parameters match their schemas, as do the defaults, and each parameter is described', () => {
    for (const { name, description: text, schema, example } of operations.flatMap(
      ({ parameters = [] }) => parameters,
    )) {
      expect(text).toMatch(/\w/);
      for (const value of [example, schema['default']].filter((one) => one !== undefined)) {
        expect({ name, faults: faults(schema, value) }).toEqual({ name, faults: [] });
      }
    }
  });

  test('of an endpoint’s parameters can be used together', async () => {
    for (const [path, { parameters = [] }] of endpoints) {
      const examples = Object.fromEntries(
        parameters.map(({ name, example }) => [name, example as string]),
      );
      const { status } = await get(path, survey, { ...examples, survey: survey.name });
      expect({ path, status }).toEqual({ path, status: 200 });
    }
  });

  test('of bodies and headers match their schemas, and every body has one', () => {
    for (const { content = {}, headers = {} } of responses) {
      for (const { schema, example, examples = {} } of Object.values(content)) {
        const values = [example, ...Object.values(examples).map(({ value }) => value)].filter(
          (one) => one !== undefined,
        );
        expect(values).not.toEqual([]);
        for (const value of values) expect(faults(schema, value)).toEqual([]);
      }
      for (const [header, { schema, example = schema['const'] }] of Object.entries(headers)) {
        expect({ header, faults: faults(schema, example) }).toEqual({ header, faults: [] });
      }
    }
  });

  test('of errors include each that asks a client to wait', () => {
    const shown = JSON.stringify(Object.values(description.components.responses));
    const without = Object.entries(catalogue).filter(
      ([name, make]) => /^[a-z]/.test(name) && typeof make === 'function' && make.length === 0,
    );
    const limits = (Object.keys(KINDS) as Kind[]).map((kind) =>
      catalogue.limitReached({ kind, held: 4, isRetrying: false }),
    );
    const waiting = without
      .map(([, make]) => (make as () => catalogue.ApiError)())
      .filter(({ headers }) => headers['Retry-After'])
      .concat(limits);
    expect(waiting.length).toBeGreaterThan(7);
    for (const { message } of waiting)
      expect(shown).toContain(JSON.stringify({ error: { message } }));
  });
});

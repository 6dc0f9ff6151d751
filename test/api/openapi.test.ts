import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { fetchApi, fetchService, query } from '../support/api.ts';
import * as catalogue from '../../src/http/errors.ts';
import {
  type DescribedParameter,
  type DescribedResponse,
  type Description,
  type Operation,
  type Schema,
  faults,
  resolve,
} from '../support/api-description.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';

interface App {
  createApp(): { readonly routes: readonly { readonly method: string; readonly path: string }[] };
}

let document: Record<string, unknown>;
let description: Description;

beforeAll(async () => {
  document = JSON.parse((await fetchService('/openapi.json')).text) as Record<string, unknown>;
  description = resolve(document);
});

const operations = (): [name: string, operation: Operation][] =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );

/** All responses: those of operations and the shared ones. */
const responses = (): [name: string, response: DescribedResponse][] => [
  ...Object.entries(description.components.responses),
  ...operations().flatMap(([name, operation]) =>
    Object.entries(operation.responses).map(([status, response]): [string, DescribedResponse] => [
      `${name} ${status}`,
      response,
    ]),
  ),
];

describe('the description at /openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(description.openapi).toMatch(/^3\.1\./);
  });

  test('has exactly the paths of the app, with GET and HEAD', async () => {
    // Imported without types, because the app's need the Workers runtime's.
    const module = await vi.importActual<App>('../../src/app.ts');
    const routes = module
      .createApp()
      .routes.filter(({ method, path }) => method === 'GET' && !/^\/(?:$|docs|pages\/)/.test(path));
    expect(Object.keys(description.paths).toSorted()).toEqual([...new Set(routes.map(({ path }) => path))].toSorted());
    for (const methods of Object.values(description.paths)) expect(Object.keys(methods)).toEqual(['get', 'head']);
  });

  test('has the parameters that the service validates', async () => {
    const { key } = await createAccount();
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const { name, schema } of methods['get']?.parameters ?? []) {
        if (name === 'survey' || schema['type'] === 'array') continue;
        const response = await fetchService(`${path}${query({ survey: 's', [name]: '?' })}`, { key });
        expect([response.status, response.text]).toEqual([400, expect.stringContaining(`${name} must be `)]);
      }
    }
  });

  test('has components that are all used, and whose names differ in more than case, since generators make types of them', () => {
    const { securitySchemes: _, ...groups } = document['components'] as Record<string, object>;
    const text = JSON.stringify(document);
    const unused = Object.entries(groups).flatMap(([group, parts]) =>
      Object.keys(parts).filter((name) => !text.includes(`"#/components/${group}/${name}"`)),
    );
    expect(unused).toEqual([]);
    const names = ['schemas', 'parameters', 'responses'].flatMap((group) => Object.keys(groups[group] ?? {}));
    const lower = names.map((name) => name.toLowerCase());
    expect(lower.filter((name, i) => lower.indexOf(name) !== i)).toEqual([]);
  });

  test('describes every operation, parameter and response, with unique operation ids', () => {
    for (const [, { parameters = [] }] of operations()) {
      for (const { description: text } of parameters) expect(text).toMatch(/\w/);
    }
    for (const [, { description: text }] of responses()) expect(text).toMatch(/\w/);
    const names = operations().map(([, { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  test('has 400, 500 and 503 everywhere, 401 and 429 wherever a key is required, 429 for /healthz, and 505 for streams', () => {
    for (const [name, { responses: described }] of operations()) {
      const limited = name.endsWith('/healthz') ? ['429'] : [];
      const refused = name.includes('/api/v1/') ? ['401', '429'] : limited;
      const needed = ['400', ...refused, '500', '503'];
      const polled = /\/(?:surveys|responses|digests)$/.test(name) ? ['304'] : [];
      const streamed = /\/(?:surveys|responses|form-data|csv|xlsx|ndjson)$/.test(name) ? ['505'] : [];
      expect(Object.keys(described)).toEqual(['200', ...polled, ...needed, ...streamed]);
    }
  });
});

describe('its examples', () => {
  test('of parameters match their schemas, and so do the defaults', () => {
    const all = operations().flatMap(([, { parameters = [] }]): readonly DescribedParameter[] => parameters);
    for (const { name, schema, example } of all) {
      for (const value of [example, schema['default']].filter((one) => one !== undefined)) {
        expect({ name, faults: faults(schema, value) }).toEqual({ name, faults: [] });
      }
    }
  });

  test('of an endpoint’s parameters can be used together', async () => {
    const survey = await createSurvey(await createAccount());
    await addResponses(survey, [{}]);
    const paths = Object.entries(description.paths).filter(([path]) => path.startsWith('/api/v1/'));
    for (const [path, { get }] of paths) {
      const given = (get?.parameters ?? []).map(({ name, example }): [string, unknown] => [name, example]);
      const examples = Object.fromEntries(given) as Parameters<typeof query>[0];
      const { status } = await fetchService(`${path}${query({ ...examples, survey: survey.name })}`, survey.account);
      expect({ path, status }).toEqual({ path, status: 200 });
    }
  });

  test('of bodies and headers match their schemas, and every body has one', () => {
    for (const [name, { content = {}, headers = {} }] of responses()) {
      for (const { schema, example, examples = {} } of Object.values(content)) {
        const values = [
          ...(example === undefined ? [] : [example]),
          ...Object.values(examples).map(({ value }) => value),
        ];
        expect({ name, given: values.length > 0 }).toEqual({ name, given: true });
        for (const value of values) expect({ name, faults: faults(schema, value) }).toEqual({ name, faults: [] });
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
    const limits = (['exports', 'scans', 'memory', 'queries'] as const).map((resource) =>
      catalogue.limitReached({ resource, held: 4, isByAccount: true }),
    );
    const waiting = without
      .map(([, make]) => (make as () => catalogue.ApiError)())
      .filter(({ headers }) => headers['Retry-After'])
      .concat(limits);
    expect(waiting.length).toBeGreaterThan(7);
    for (const { message } of waiting) expect(shown).toContain(JSON.stringify({ error: { message } }));
  });

  test('of CSV files have the columns of the files', async () => {
    const survey = await createSurvey(await createAccount());
    await addResponses(survey, [{}]);
    for (const path of ['/responses/csv', '/responses/form-data', '/responses/questions']) {
      const parameters = query({ survey: survey.name, format: 'csv' });
      const { text } = await fetchApi(`${path}${parameters}`, { key: survey.account.key });
      const example = String(
        description.paths[`/api/v1${path}`]?.['get']?.responses['200']?.content?.['text/csv']?.example,
      );
      expect(example.split('\n')[0]).toBe(text.split('\n')[0]);
    }
  });
});

/** Checks that the members of a value are those that its schema requires, in their order, and so are those within them. */
function expectOrder(schema: Schema, value: unknown): void {
  const { items, required, properties = {} } = schema as Partial<Record<'items' | 'required' | 'properties', Schema>>;
  if (Array.isArray(value)) return expectOrder(items ?? {}, value[0]);
  if (typeof value !== 'object' || value === null || !required) return;
  expect(Object.keys(value)).toEqual(required);
  for (const [name, member] of Object.entries(value)) expectOrder(properties[name] as Schema, member);
}

test.each(['/surveys', '/responses', '/responses/questions', '/responses/summary', '/responses/digests'])(
  'describes the members of %s in their order',
  async (path) => {
    const survey = await createSurvey(await createAccount());
    await addResponses(survey, [{}]);
    const { text } = await fetchApi(path + query({ survey: survey.name }), survey.account);
    const { schema } =
      description.paths[`/api/v1${path}`]?.['get']?.responses['200']?.content?.['application/json'] ?? {};
    expect(schema).toBeDefined();
    expectOrder(schema ?? {}, JSON.parse(text));
  },
);

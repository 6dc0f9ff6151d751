import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FILTERS, PARAMETERS } from '../chaos/requests/parameters.ts';
import { fetchService } from '../support/api.ts';
import { resolve } from '../support/api-description.ts';

// What the description at /openapi.json lists, other programs and docs/api.md list too. These tests
// name what is missing there, or superfluous.

const { paths, components } = resolve(
  JSON.parse((await fetchService('/openapi.json')).text) as Record<string, unknown>,
);
const operationOf = (path: string) => paths[`/api/v1${path}`]?.['get'];
const parametersOf = (path: string) => operationOf(path)?.parameters ?? [];
const namesOf = (path: string) => parametersOf(path).map(({ name }) => name);

/** The columns of the CSV that a path returns. */
const columnsOf = (path: string) => {
  const file = operationOf(path)?.responses['200']?.content?.['text/csv'];
  return String(file?.example).split('\n', 1)[0]?.split(',') ?? [];
};
const fieldsOf = (schema: string) =>
  Object.keys(components.schemas[schema]?.['properties'] as object);

/** The values of parameters that have a few, by name. */
const choices = new Map(
  Object.keys(paths)
    .flatMap((path) => parametersOf(path.replace('/api/v1', '')))
    .map(({ name, schema }) => [
      name,
      schema['type'] === 'boolean' ? ['true', 'false'] : (schema['enum'] as string[] | undefined),
    ]),
);
const everywhere = ['survey', 'missing'];
const filters = without(namesOf('/responses/digests'), [...everywhere, 'interval']);

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}

function expectSame(listed: readonly string[], described: readonly string[]): void {
  expect({
    missing: without(described, listed),
    superfluous: without(listed, described),
  }).toEqual({ missing: [], superfluous: [] });
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** A module of the page. Its types are those of browsers, so it has no literal name here. */
const page = (file: string): Promise<unknown> =>
  import(new URL(`../../site/home/${file}.ts`, import.meta.url).href);

/** A file that the page offers. */
interface Format {
  readonly path: string;
  readonly accepts: readonly string[];
  readonly adds?: readonly (readonly [name: string, value: string])[];
}

const docs = read('docs/api.md');
const python = (file: string) => read(`clients/python/src/survey_export/${file}`);
const r = (file: string) => read(`clients/r/R/${file}`);

/** The part of a text between two others. */
function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`"${start}" … "${end}" is not in the file`);
  return text.slice(from + start.length, to);
}
const quoted = (text: string) => Array.from(text.matchAll(/"(\w+)"/g), ([, name = '']) => name);
const keys = (text: string) =>
  Array.from(text.matchAll(/^ {4}"(\w+)":/gm), ([, name = '']) => name);
const members = (text: string) =>
  Array.from(text.matchAll(/^ {4}(\w+):/gm), ([, name = '']) => name);

describe('docs/api.md', () => {
  /** The words in code, and the parameters with a value. */
  const code = Array.from(docs.matchAll(/`&?(\w+)(?:=([^`&"]+))?`/g));
  const given = code.flatMap(([, name = '', value]) => (value ? [{ name, value }] : []));

  test('names every parameter, and none that there is not', () => {
    const named = code.map(([, name = '']) => name);
    expect(without([...choices.keys()], named)).toEqual([]);
    const givenNames = given.map(({ name }) => name);
    expect(without(givenNames, [...choices.keys()])).toEqual([]);
  });

  test.each([...choices].filter(([, values]) => values))(
    'has the values of %s',
    (name, values = []) => {
      const named = code.map(([, word = '']) => word);
      const withName = given.filter((one) => one.name === name).map(({ value }) => value);
      expect(without(values, [...named, ...withName, 'false'])).toEqual([]);
      expect(without(withName, values)).toEqual([]);
    },
  );

  test('has the columns of a CSV file', () => {
    expect(docs).toContain(`\n${columnsOf('/responses/csv').join(',')}\n`);
  });
});

describe('the page', async () => {
  const { FORMATS } = (await page('selection')) as { readonly FORMATS: Record<string, Format> };
  const { options } = (await page('texts')) as {
    readonly options: Record<string, { readonly choices: object }>;
  };
  /** What it does not offer. One of its CSV formats adds `bom` and `safe`, the other does not. */
  const hidden = ['after', 'count', 'omit', 'require_question'];

  test.each(Object.entries(FORMATS))('as %s has the parameters', (_, format) => {
    const added = format.adds?.map(([name]) => name) ?? [];
    const described = without(namesOf(format.path), [...everywhere, ...filters, ...hidden]);
    expectSame([...format.accepts, ...added, 'bom', 'safe'], [...described, 'bom', 'safe']);
  });

  test.each(Object.entries(options))('has the values of %s', (name, option) => {
    const [byDefault, ...others] = Object.keys(option.choices);
    const described = choices.get(name) ?? [];
    expect(byDefault).toBe(described[0]);
    expectSame(others, described.slice(1));
  });
});

describe('the Python client', () => {
  test.each([
    ['FILTERS', '_parameters.py', 'FILTERS = (', ')\n', filters],
    ['RESPONSE_COLUMNS', '_records.py', 'RESPONSE_COLUMNS = [', '\n]', columnsOf('/responses/csv')],
    [
      'FORM_COLUMNS',
      '_digests.py',
      'FORM_COLUMNS = [',
      ']\nCODEBOOK',
      columnsOf('/responses/form-data'),
    ],
  ])('has the names in %s', (_, file, start, end, described) => {
    expectSame(quoted(between(python(file), start, end)), described);
  });

  test('has the columns of answers', () => {
    const columns = columnsOf('/responses/answers').map((name) => `"${name}"`);
    expect(python('_frame.py')).toContain(`[${columns.join(', ')}]`);
  });

  test.each(['FormVersion', 'Question'])('has the fields of a %s', (schema) => {
    const fields = between(python('_models.py'), `class ${schema}:`, '\n@dataclass');
    expectSame(members(fields), fieldsOf(schema));
  });

  test('offers in its command the parameters of files and answers', () => {
    const command = python('_cli.py');
    const part = (name: string) => between(command, `\n${name} = {`, '\n}');
    const records = keys(part('_RECORDS'));
    const fileNames = [...namesOf('/responses/csv'), ...namesOf('/responses/xlsx')];
    const hidden = [...everywhere, ...filters, 'after', 'count', 'bom', 'safe', 'codebook'];
    const hiddenOfAnswers = ['by', 'numbers', 'format', 'safe'];

    expectSame(keys(part('_FILTERS')), filters);
    expectSame([...keys(part('_FORMATS')), ...records], without(fileNames, hidden));
    expectSame(
      [...keys(part('_ANSWERS')), ...records],
      without(namesOf('/responses/answers'), [...everywhere, ...filters, ...hiddenOfAnswers]),
    );
    for (const name of ['value', 'repeats', 'columns'])
      for (const value of choices.get(name) ?? []) expect(part('_RECORDS')).toContain(value);
  });
});

describe('the R package', () => {
  test('has the filters', () => {
    const names = quoted(between(r('parameters.R'), 'selection_of <- function', '\n}'));
    expectSame(names, ['survey', ...filters]);
  });

  test('has the columns of surveys', () => {
    const names = quoted(between(r('tables.R'), 'names <- c(', 'table_of('));
    expectSame(names, fieldsOf('FormVersion'));
  });
});

describe('the model of chaos', () => {
  const described = Object.keys(paths)
    .map((path) => path.replace('/api/v1', ''))
    .filter((path) => namesOf(path).includes('missing') && path !== '/responses/form-data');

  test.each(described)('gives the parameters of %s', (path) => {
    const wide = PARAMETERS[`${path} wide`];
    const listed = [...everywhere, ...FILTERS, ...(PARAMETERS[path] ?? [])];
    expectSame([...listed, ...(wide ? ['layout', ...wide] : [])], namesOf(path));
  });
});

import type { ParameterObject, SchemaObject } from 'openapi3-ts/oas31';
import { isStorable } from '../responses/cursor.ts';
import { badParameter } from './errors.ts';

/** A query parameter: how it is parsed, and its description in OpenAPI. */
export interface Parameter<T> extends Pick<
  ParameterObject,
  'required' | 'description' | 'example'
> {
  readonly schema: SchemaObject;
  /**
   * @param given the values in order; empty if the parameter is not given
   * @param name the parameter's
   * @throws ApiError 400
   */
  readonly parse: (given: readonly string[], name: string) => T;
}

/**
 * A parameter that is given once at most. If it is not given, it has the default of its schema.
 *
 * @param expected the accepted values, which complete the sentence "<name> must be …"
 * @param parse returns undefined for any other text
 */
export function single<T, Default extends T | undefined = undefined>(
  expected: string,
  parse: (text: string) => T | undefined,
  described: Omit<Parameter<T>, 'parse'> & { readonly schema: { readonly default?: Default } },
): Parameter<T | Default> {
  return {
    ...described,
    parse(given, name) {
      const [text] = given;
      if (text === undefined) return described.schema.default as Default;
      if (given.length > 1) throw badParameter(name, 'given once');

      const value = parse(text);
      if (value === undefined) throw badParameter(name, expected);
      return value;
    },
  };
}

/**
 * A parameter that can be given up to `most` times. Equal values count once.
 *
 * @param example none if it could not be used together with those of the endpoint's other
 * parameters
 * @param expected the accepted values, which complete the sentence "<name> must be …, given at most
 * <most> times"
 */
export const repeatable = (
  description: string,
  example?: string,
  { most = 50, isValue = isStorable, expected = 'text without NUL characters' } = {},
): Parameter<readonly string[] | undefined> => ({
  description: `${description} Repeatable.`,
  schema: { type: 'array', items: { type: 'string' }, maxItems: most },
  ...(example !== undefined && { example: [example] }),
  parse(given, name) {
    const values = [...new Set(given)];
    if (values.length > most || !values.every(isValue))
      throw badParameter(name, `${expected}, given at most ${most} times`);
    return values.length > 0 ? values : undefined;
  },
});

/** A parameter with one of a few values, the first of which is the default. */
export function choice<const T extends string>(
  values: readonly [T, T, ...T[]],
  description: string,
) {
  // Not with Intl.ListFormat, whose creation takes 13 ms of an isolate's start.
  const comma = values.length > 2 ? ',' : '';
  const expected = `${values.slice(0, -1).join(', ')}${comma} or ${values.at(-1)}`;

  return single(expected, (text) => values.find((value) => value === text), {
    description,
    schema: { type: 'string', enum: [...values], default: values[0] },
    example: values[1],
  });
}

export const flag = (description: string, example = true) =>
  single('true or false', (text) => (/^(?:true|false)$/.test(text) ? text === 'true' : undefined), {
    description,
    schema: { type: 'boolean', default: false },
    example,
  });

/** An integer from 1. */
export const integer = (most: number, byDefault: number, description: string, example: number) =>
  single(
    `an integer from 1 to ${most}`,
    (text) => {
      const value = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : Infinity;
      return value <= most ? value : undefined;
    },
    {
      description,
      schema: { type: 'integer', minimum: 1, maximum: most, default: byDefault },
      example,
    },
  );

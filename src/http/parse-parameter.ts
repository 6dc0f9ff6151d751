import type { ParameterObject, SchemaObject } from 'openapi3-ts/oas31';
import { isStorable } from '../responses/cursor.ts';
import { badParameter } from './errors.ts';

/** The description of a parameter in OpenAPI. */
type Described = Pick<ParameterObject, 'description' | 'example'> & { readonly schema: SchemaObject };

/** A query parameter: how it is parsed, and its description. */
export interface Parameter<T> extends Described {
  readonly required: boolean;
  /**
   * @param values in the order given; empty if the parameter is not given
   * @throws ApiError 400
   */
  readonly parse: (values: readonly string[]) => T;
}

/** The parameters of an endpoint, by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
/** Their values. */
export type Values<P extends Parameters> = { readonly [Name in keyof P]: ReturnType<P[Name]['parse']> };

/**
 * A parameter that is given once at most.
 *
 * @param expected the accepted values, which complete the sentence "<name> must be …"
 * @param parse returns undefined for any other text
 */
export function parameter<T>(
  name: string,
  expected: string,
  parse: (text: string) => T | undefined,
  described: Described,
): Parameter<T | undefined>;
/** @param defaultValue the value if it is not given */
export function parameter<T>(
  name: string,
  expected: string,
  parse: (text: string) => T | undefined,
  described: Described,
  defaultValue: T,
): Parameter<T>;
export function parameter<T>(
  name: string,
  expected: string,
  parse: (text: string) => T | undefined,
  described: Described,
  defaultValue?: T,
): Parameter<T | undefined> {
  return {
    required: false,
    ...described,
    parse([text, ...more]) {
      if (text === undefined) return defaultValue;
      if (more.length > 0) throw badParameter(name, 'given once');
      const value = parse(text);
      if (value === undefined) throw badParameter(name, expected);
      return value;
    },
  };
}

/** A parameter that can be given up to `most` times. Equal values count once. */
export function repeatable(
  name: string,
  most: number,
  description: string,
  example: string,
): Parameter<readonly string[] | undefined> {
  return {
    required: false,
    description,
    schema: { type: 'array', items: { type: 'string' }, maxItems: most },
    example: [example],
    parse(given) {
      const values = [...new Set(given)];
      if (values.length > most || !values.every(isStorable))
        throw badParameter(name, `text without NUL characters, given at most ${most} times`);
      return values.length > 0 ? values : undefined;
    },
  };
}

/** A parameter with one of a few values, the first of which is the documented default; undefined if not given. */
export function choice<const T extends string>(name: string, values: readonly [T, ...T[]], description: string) {
  // Not with Intl.ListFormat, whose creation takes 13 ms of an isolate's start.
  const expected = `${values.slice(0, -1).join(', ')}${values.length > 2 ? ',' : ''} or ${values.at(-1)}`;
  return parameter(name, expected, (text) => values.find((value) => value === text), {
    description,
    schema: { type: 'string', enum: [...values], default: values[0] },
    example: values[1] ?? values[0],
  });
}

export const flag = (name: string, description: string) =>
  parameter(name, 'true or false', (text) => (text === 'true' ? true : text === 'false' ? false : undefined), {
    description,
    schema: { type: 'boolean', default: false },
    example: true,
  });

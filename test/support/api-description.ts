import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';

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

export interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Described>>;
  readonly content?: Readonly<Record<string, Described>>;
}

/** A header or a body. */
export interface Described {
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface DescribedParameter extends Described {
  readonly name: string;
  readonly description?: string;
}

export type Schema = Readonly<Record<string, unknown>>;

/**
 * Resolves every reference, and forbids undescribed members. The document allows them, so that they
 * can be added later.
 */
export function resolve(document: Readonly<Record<string, unknown>>): Description {
  const close = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(close);
    const copy = Object.fromEntries(
      Object.entries(node).map(([name, value]) => [name, close(value)]),
    );

    return 'properties' in node && 'type' in node ? { ...copy, additionalProperties: false } : copy;
  };

  return close(
    new Validator().resolveRefs({ specification: structuredClone(document) }),
  ) as Description;
}

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, code: { optimize: false } });
ajvFormats.default(ajv);
/** By the JSON of their schemas, many of which are equal: to compile them takes long. */
const validators: Record<string, ValidateFunction> = {};

/** Validates a value against a JSON Schema (2020-12). @returns the faults, if any */
export function faults(schema: Schema, value: unknown): string[] {
  const validate = (validators[JSON.stringify(schema)] ??= ajv.compile(schema));
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'it'} ${message}`,
  );
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import type { Schema } from './api-description.ts';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
ajvFormats.default(ajv);

const compiled = new WeakMap<Schema, ValidateFunction>();

/** What is wrong with a value by a JSON Schema (2020-12); nothing when it conforms. A field that is not described is wrong too. */
export function faults(schema: Schema, value: unknown): string[] {
  let validate = compiled.get(schema);
  if (!validate) compiled.set(schema, (validate = ajv.compile(closed(schema) as Schema)));
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`);
}

/** The document leaves room for fields to come, as clients must; the tests do not. */
function closed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(closed);
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  return 'properties' in node && 'type' in node ? { ...copy, additionalProperties: false } : copy;
}

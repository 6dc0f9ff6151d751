import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import type { Schema } from './api-description.ts';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
ajvFormats.default(ajv);

const compiled = new WeakMap<Schema, ValidateFunction>();

/** Validates a value against a JSON Schema (2020-12). Undescribed fields are faults. @returns the faults, if any */
export function faults(schema: Schema, value: unknown): string[] {
  let validate = compiled.get(schema);
  if (!validate) compiled.set(schema, (validate = ajv.compile(closed(schema) as Schema)));
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`);
}

/** Forbids additional properties. The document allows them, so that fields can be added later. */
function closed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(closed);
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  return 'properties' in node && 'type' in node ? { ...copy, additionalProperties: false } : copy;
}

/**
 * A JSON value as a parameter in Postgres' text form, as Neon's proxy makes it: strings as they are, arrays as array
 * literals, other values as JSON text. proxy/src/serverless/json.rs, `json_to_pg_text`.
 */
export function toParameter(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value;
  return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(value);
}

/** JSON's escapes in strings are also those of an array literal, as far as they occur in both. */
function arrayLiteral(values: unknown[]): string {
  return `{${values.map(arrayElement).join(',')}}`;
}

function arrayElement(value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return arrayLiteral(value);
  const text = JSON.stringify(value);
  return typeof value === 'object' ? JSON.stringify(text) : text;
}

import type { Row } from '../db/client.ts';

/** A member's name, and whether its text is a string or, as jsonb is, JSON already. */
export type JsonField = readonly [name: string, kind: 'string' | 'json'];

/**
 * A row as a JSON object, its members in the order of the fields. JSON columns go in as the database printed them: their
 * numbers keep every digit, which a trip through a double would not leave them.
 */
export function jsonObject(fields: readonly JsonField[], row: Row): string {
  const members = fields.map(([name, kind], i) => `${JSON.stringify(name)}:${jsonValue(kind, row[i] ?? null)}`);
  return `{${members.join(',')}}`;
}

function jsonValue(kind: JsonField[1], text: string | null): string {
  if (text === null) return 'null';
  return kind === 'json' ? text : JSON.stringify(text);
}

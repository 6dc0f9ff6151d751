import { shown } from './bad-line.ts';
import { isTimestamp } from './timestamp.ts';

/**
 * The kinds of values a column may hold. Each function takes a field as it stands in the file (null: empty, without
 * quotes) and returns it as Postgres is to read it.
 *
 * @throws InvalidField saying what is wrong, in words that follow the column's name
 */
export type FieldReader<T extends string | null> = (field: string | null) => T;

export class InvalidField extends Error {
  override name = 'InvalidField';
}

/** Any text; an empty one has to be written `""`. */
export function text(field: string | null): string {
  if (field === null) throw new InvalidField('is empty (an empty text is written "")');
  return field;
}

export function uuid(field: string | null): string {
  const value = text(field);
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
    throw new InvalidField(`${shown(value)} is not a UUID`);
  return value.toLowerCase();
}

export const integer = integerBetween(-(2n ** 31n), 2n ** 31n - 1n, 'an integer of 32 bits');
export const bigint = integerBetween(-(2n ** 63n), 2n ** 63n - 1n, 'an integer of 64 bits');

export function positiveInteger(field: string | null): string {
  const value = integer(field);
  if (Number(value) < 1) throw new InvalidField(`${shown(value)} is not a positive integer`);
  return value;
}

/** See {@link isTimestamp}. */
export function timestamp(field: string | null): string {
  const value = text(field);
  if (!isTimestamp(value)) {
    throw new InvalidField(
      `${shown(value)} is not a timestamp such as 2026-03-01T00:03:43.770Z or 2026-03-01 00:03:43.770047+00`,
    );
  }
  return value;
}

/** A JSON object, returned as it is written: its numbers may have more digits than a JS number keeps. */
export function jsonObject(field: string | null): string {
  const value = text(field);
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new InvalidField(`${shown(value)} is not JSON`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new InvalidField(`${shown(value)} is not a JSON object`);
  }
  return value;
}

/** What `reader` takes, or null. */
export function nullable(reader: FieldReader<string>): FieldReader<string | null> {
  return (field) => (field === null ? null : reader(field));
}

function integerBetween(min: bigint, max: bigint, name: string): FieldReader<string> {
  return (field) => {
    const value = text(field);
    const isInteger = /^-?\d{1,19}$/.test(value) && BigInt(value) >= min && BigInt(value) <= max;
    if (!isInteger) throw new InvalidField(`${shown(value)} is not ${name}`);
    return value;
  };
}

import { isDeepStrictEqual } from 'node:util';

/** A check that cannot be made, for a reason that is not a fault of what is checked, or that another check reports. */
export class NotTested extends Error {
  override name = 'NotTested';
}

/** @param what the beginning of the message. @throws Error unless the values are equal */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  expectThat(isDeepStrictEqual(found, expected), `${what}: ${show(found)}, expected ${show(expected)}`);
}

/** @throws Error unless the condition is true */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** A time as text. @param duration in milliseconds */
export const ms = (duration: number) => `${Math.round(duration).toLocaleString('en-US')} ms`;

const MAX_LENGTH = 300;

function show(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

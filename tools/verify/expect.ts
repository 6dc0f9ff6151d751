import { isDeepStrictEqual } from 'node:util';

/** What was found is not what should hold. Its message is one line for each difference. */
export class Mismatch extends Error {
  override name = 'Mismatch';
}

/** A check that cannot be made, for a reason that is not a fault of what is checked, or that another check reports. */
export class NotTested extends Error {
  override name = 'NotTested';
}

/** @param what the beginning of the message. @throws Mismatch unless the values are equal */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) throw new Mismatch(`${what}: ${show(found)}, expected ${show(expected)}`);
}

/** @throws Mismatch unless the condition is true */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Mismatch(message);
}

const MAX_LENGTH = 300;

function show(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

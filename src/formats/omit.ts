import { badParameter } from '../http/errors.ts';

/**
 * The columns of a long table that are left.
 *
 * @param names all columns that it can omit
 * @param more how many columns it has besides
 * @throws ApiError 400 for another name, or if fewer than two columns are left: a record with one null would be an empty line
 */
export function namesWithout<Name extends string>(names: readonly Name[], omit: readonly string[], more = 0): Name[] {
  const left = names.filter((name) => !omit.includes(name));
  const areKnown = omit.every((name) => (names as readonly string[]).includes(name));
  if (!areKnown || left.length + more < 2)
    throw badParameter('omit', `any of ${names.join(', ')}, with two columns left`);
  return left;
}

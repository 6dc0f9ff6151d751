import { UserError } from '../command.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const WHERE_TO_FIND = 'npm run keys -- list';

/**
 * @param text an argument `<id>`
 * @returns the id in lower case, as the database writes it
 * @throws UserError when it is no UUID. It does not quote the text, which may be a key that somebody took for its id
 */
export function parseKeyId(text: string): string {
  const id = text.toLowerCase();
  if (UUID.test(id)) return id;
  const what = text.startsWith('sres_') ? 'this is a key, not the id of one' : 'this is not the id of a key (a UUID)';
  throw new UserError(`<id>: ${what}. "${WHERE_TO_FIND}" shows the ids.`);
}

/** What to say when no key has the id. */
export function noSuchKey(id: string): UserError {
  return new UserError(`<id>: there is no key ${id}. "${WHERE_TO_FIND}" shows all there are.`);
}

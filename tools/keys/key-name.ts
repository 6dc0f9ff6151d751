import { UserError } from '../command.ts';
import { isPrintable } from './printable.ts';

const MAX_LENGTH = 200;

/** @returns the name. @throws UserError unless it is 1 to 200 characters (code points), not all blank and without controls */
export function parseKeyName(text: string): string {
  const length = Array.from(text).length;
  if (text.trim() === '') throw new UserError('--name: is empty: expected 1 to 200 characters');
  if (length > MAX_LENGTH) throw new UserError(`--name: has ${length} characters: expected 1 to ${MAX_LENGTH}`);
  if (!isPrintable(text)) throw new UserError('--name: has control characters, such as line breaks');
  return text;
}

import { UserError } from '../command.ts';
import { printable } from './printable.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** A century. The year must keep four digits, for RFC 3339. */
const MAX_DAYS = 36_500;

const MAX_NAME_LENGTH = 200;

/**
 * @param text an id of a key
 * @param option the name of the argument, for errors
 * @returns the id in lower case, as the database prints it
 * @throws UserError if it is not a UUID, without quoting it: it may be a key that was given instead
 * of its id
 */
export function parseKeyId(text: string, option = '<id>'): string {
  const id = text.toLowerCase();
  if (UUID.test(id)) return id;
  const problem = /^sresl?_/.test(text)
    ? 'this is a key, not the id of one'
    : 'this is not the id of a key (a UUID)';
  throw new UserError(`${option}: ${problem}. "npm run keys -- list" shows the ids.`);
}

/**
 * @throws UserError unless the name has 1 to 200 characters (code points), is not blank and has no
 * control characters
 */
export function parseKeyName(text: string): string {
  const { length } = Array.from(text);
  if (text.trim() === '' || length > MAX_NAME_LENGTH || printable(text) !== text)
    throw new UserError(
      `--name: must have 1 to ${MAX_NAME_LENGTH} characters, and no control characters such as line breaks`,
    );
  return text;
}

/**
 * @param option the option's name, for errors
 * @param text such as `90d`, `12h` or `30m`; also `w` for weeks and `s` for seconds; with `orZero`,
 * also `0`
 * @returns milliseconds
 * @throws UserError if the text is anything else, or more than 36 500 days
 */
export function parseDuration(option: string, text: string, { orZero = false } = {}): number {
  const [, digits, unit = ''] = /^(\d+)([smhdw]?)$/.exec(text) ?? [];
  if (orZero && Number(digits) === 0) return 0;
  const ms = Number(digits) * (UNITS[unit] ?? 0);
  if (!(ms > 0)) {
    const examples = orZero ? '90d, 12h, 30m or 0' : '90d, 12h or 30m';
    throw new UserError(`${option}: "${printable(text)}" is not a duration such as ${examples}`);
  }

  if (ms > MAX_DAYS * 86_400_000)
    throw new UserError(`${option}: ${text} is too long: at most ${MAX_DAYS}d, a century`);
  return ms;
}

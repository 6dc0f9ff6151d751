import { POINT, QUOTE, SPACE, ZERO } from './ascii.ts';
import { malformed } from './rows.ts';

/**
 * How many spaces follow a time as Postgres prints it, so that the form of the API, which can be so
 * much longer, fits in its place.
 */
export const TIME_ROOM = 5;

/** The length of a time without its fraction, and that of the longest one. */
const LENGTH = '2026-03-01 00:03:43'.length;
const MAX_LENGTH = '2026-03-01 00:03:43.770047'.length + TIME_ROOM;

const DASH = 0x2d;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;

/** Postgres prints times in another style. */
export class DateStyleError extends Error {
  constructor() {
    super('times are not in the style ISO: set DateStyle of the role or the database to ISO');
  }
}

/** @returns the position of the closing quote of a time. @param start that after the opening one */
export function endOfTime(bytes: Uint8Array, start: number): number {
  let end = start + LENGTH + TIME_ROOM;
  while (bytes[end] !== QUOTE && end < start + MAX_LENGTH) end++;
  if (end >= bytes.length - 1) throw malformed(end);
  return end;
}

/**
 * Writes a time, such as `2026-03-01 00:03:43.77` and {@link TIME_ROOM} spaces, as the API has it:
 * with three fraction digits, or six if the microseconds are not zero.
 *
 * @param start its position
 * @param end that after its spaces
 * @param to where it is written: at `start`, or before
 * @returns the position after it, at most `end`
 * @throws DateStyleError
 */
export function formatTime(bytes: Uint8Array, start: number, end: number, to: number): number {
  const point = start + LENGTH;
  // Postgres prints no zeros at the end of a fraction.
  const digits = bytes[point] === POINT ? end - TIME_ROOM - point - 1 : 0;
  const isIso =
    bytes[start + 4] === DASH &&
    bytes[start + 10] === SPACE &&
    bytes[start + 13] === COLON &&
    bytes[end - TIME_ROOM] === SPACE &&
    end - TIME_ROOM - point === (digits > 0 ? digits + 1 : 0);
  if (!isIso) throw new DateStyleError();

  let write = to;
  for (let read = start; read < point; read++) bytes[write++] = bytes[read] as number;
  bytes[to + 10] = LETTER_T;

  bytes[write++] = POINT;
  const length = digits > 3 ? 6 : 3;
  for (let i = 1; i <= length; i++)
    bytes[write++] = i > digits ? ZERO : (bytes[point + i] as number);
  bytes[write++] = LETTER_Z;
  return write;
}

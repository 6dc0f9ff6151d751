import { BACKSLASH, LOWER_U } from './ascii.ts';
import { utf8 } from './bytes.ts';
import { malformed } from './rows.ts';

/**
 * JSON's two-character escapes (RFC 8259 section 7) except `\"` and `\u`, by the byte after the
 * backslash.
 */
export const ESCAPES = new Uint8Array(256);
const LETTERS = '\\/bfnrt';
for (let i = 0; i < LETTERS.length; i++)
  ESCAPES[LETTERS.charCodeAt(i)] = '\\/\b\f\n\r\t'.charCodeAt(i);

/**
 * @returns the code point of the `\uXXXX`, or of the surrogate pair of two, at `at`; U+FFFD for a
 * lone surrogate
 */
export function codePointAt(bytes: Uint8Array, at: number): number {
  const unit = hexUnit(bytes, at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;

  if (unit < 0xdc00 && bytes[at + 6] === BACKSLASH) {
    const low = hexUnit(bytes, at + 6);
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  return 0xfffd;
}

const NOT_HEX = 16;
/** The values of hexadecimal digits, by byte. */
const HEX = new Uint8Array(256).fill(NOT_HEX);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  HEX[digit.charCodeAt(0)] = HEX[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Whether a byte is a hexadecimal digit, in either case. */
export const isHexDigit = (byte: number): boolean => HEX[byte] !== NOT_HEX;

function hexUnit(bytes: Uint8Array, at: number): number {
  let isHex = bytes[at + 1] === LOWER_U;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const digit = HEX[bytes[i] ?? 0] as number;
    isHex &&= digit !== NOT_HEX;
    unit = 16 * unit + digit;
  }

  if (!isHex) throw malformed(at);
  return unit;
}

/**
 * Writes a code point of at least U+0080 as UTF-8 (RFC 3629).
 *
 * @returns the position after it
 */
export const writeUtf8 = (bytes: Uint8Array, at: number, codePoint: number): number =>
  at + utf8.encodeInto(String.fromCodePoint(codePoint), bytes.subarray(at)).written;

/**
 * The escapes, of six bytes each, of U+0085, U+2028 and U+2029, which JSON allows in strings, but
 * which many programs take for the end of a line.
 */
export const SEPARATOR_ESCAPES: ReadonlyMap<number, Uint8Array> = new Map(
  ['0085', '2028', '2029'].map((digits) => [
    Number.parseInt(digits, 16),
    utf8.encode(`\\u${digits}`),
  ]),
);

/** The code point of the line separator at `at`, in UTF-8; 0 if there is another character. */
export function lineSeparatorAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === 0xc2 && bytes[at + 1] === 0x85) return 0x85;
  if (bytes[at] !== 0xe2 || bytes[at + 1] !== 0x80) return 0;

  const last = bytes[at + 2];
  return last === 0xa8 || last === 0xa9 ? 0x2000 | (last & 0x3f) : 0;
}

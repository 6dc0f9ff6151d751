/*
 * U+0085, U+2028 and U+2029, which JSON allows in strings, but which many programs take for the end of a line.
 */

const utf8 = new TextEncoder();

export const isLineSeparator = (codePoint: number): boolean =>
  codePoint === 0x85 || codePoint === 0x2028 || codePoint === 0x2029;

/** JSON with the line separators escaped, all of which are in strings. */
export const withoutLineSeparators = (json: string): string =>
  json.replaceAll(/[\u0085\u2028\u2029]/g, (char) => escapeOf(char.charCodeAt(0)));

const escapeOf = (char: number) => `\\u${char.toString(16).padStart(4, '0')}`;

/** The escape of a line separator: six bytes. */
export const separatorEscape = (char: number) => utf8.encode(escapeOf(char));

/** @returns the code point of the line separator at `at`, in UTF-8; 0 if there is another character */
export function lineSeparatorAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === 0xc2 && bytes[at + 1] === 0x85) return 0x85;
  if (bytes[at] !== 0xe2 || bytes[at + 1] !== 0x80) return 0;
  const last = bytes[at + 2];
  return last === 0xa8 || last === 0xa9 ? 0x2000 | (last & 0x3f) : 0;
}

import type { Output } from './bytes.ts';

/*
 * U+0085, U+2028 and U+2029, which JSON allows in strings, but which many programs take for the end of a line.
 */

const BACKSLASH = 0x5c;
/** What an escape such as `\u2028` is longer than the shortest of these characters in UTF-8. */
export const ESCAPE_GROWTH = 4;

export const isLineSeparator = (codePoint: number): boolean =>
  codePoint === 0x85 || codePoint === 0x2028 || codePoint === 0x2029;

/** JSON with the line separators escaped, all of which are in strings. */
export const withoutLineSeparators = (json: string): string =>
  json.replaceAll(/[\u0085\u2028\u2029]/g, (char) => `\\${escapeOf(char.charCodeAt(0))}`);

/** An escape without its backslash. */
const escapeOf = (char: number) => `u${char.toString(16).padStart(4, '0')}`;

/** @returns the code point of the line separator at `at`, in UTF-8; 0 if there is another character */
export function lineSeparatorAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === 0xc2 && bytes[at + 1] === 0x85) return 0x85;
  if (bytes[at] !== 0xe2 || bytes[at + 1] !== 0x80) return 0;
  const last = bytes[at + 2];
  return last === 0xa8 || last === 0xa9 ? 0x2000 | (last & 0x3f) : 0;
}

/**
 * Escapes the line separators in JSON that was written, as {@link withoutLineSeparators} does.
 *
 * @param start where the JSON starts in the output
 * @param count the number of line separators, or more; the caller has reserved {@link ESCAPE_GROWTH} bytes for each
 */
export function escapeLineSeparators(output: Output, start: number, count: number): void {
  const { bytes, length } = output;
  let read = start + count * ESCAPE_GROWTH;
  bytes.copyWithin(read, start, length); // what is written stays before what is read
  const end = length + count * ESCAPE_GROWTH;
  let write = start;
  while (read < end) {
    const char = lineSeparatorAt(bytes, read);
    if (char === 0) {
      bytes[write++] = bytes[read++] as number;
    } else {
      bytes[write++] = BACKSLASH;
      for (const digit of escapeOf(char)) bytes[write++] = digit.charCodeAt(0);
      read += char === 0x85 ? 2 : 3;
    }
  }
  output.length = write;
}

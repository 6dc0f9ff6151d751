/**
 * Characters that a terminal interprets: control characters, line and paragraph separators, and
 * marks that change the writing direction. Joiners are not among them: names in some scripts need
 * them.
 */
const UNPRINTABLE =
  /[\p{Cc}\p{Zl}\p{Zp}\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu;

/** The text with U+FFFD (�) in place of every character that a terminal interprets. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\u{fffd}');
}

/** Names in quotes, with commas between them. */
export const quotedList = (names: readonly string[]): string =>
  names.map((name) => `"${printable(name)}"`).join(', ');

/**
 * The value as one line of JSON, with escapes for characters that a terminal interprets but JSON
 * allows in strings.
 */
export function printableJson(value: unknown): string {
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(UNPRINTABLE, escape);
}

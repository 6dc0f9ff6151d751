/**
 * What a terminal would act on instead of showing it: control characters, line and paragraph separators, and the marks
 * that turn the direction of writing around. Joiners stay: names in some scripts need them.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu;

/** Whether the text can be shown on a terminal as it is, in one line. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) < 0;
}

/** The text with U+FFFD (�) for every character that a terminal would act on. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\u{fffd}');
}

/** The value as one line of JSON, with escapes for what a terminal would act on, which JSON itself allows in strings. */
export function printableJson(value: unknown): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(UNPRINTABLE, escape);
}

/** The text without what looks like a key or a key's hash. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/sres_\w{5,}|\b[0-9a-f]{64}\b/gi, '…');
}

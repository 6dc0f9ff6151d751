/** An element of the list (RFC 7240 section 2) and, apart from it, its parameters. */
const PREFERENCE = /((?:[^",;]|"(?:[^"\\]|\\.)*")*)(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?(?:,|$)/gy;

/**
 * Whether a `Prefer` header has the preference `handling=strict` (RFC 7240 section 4.4), in any
 * case. Of several `handling` preferences, the first counts. Nothing after an unterminated quote is
 * read.
 *
 * @param prefer the values of all `Prefer` headers, joined by commas
 */
export function prefersStrictHandling(prefer: string): boolean {
  const preferences = Array.from(prefer.matchAll(PREFERENCE), ([, text = '']) => text.trim());
  const handling = preferences.find((text) => /^handling[ \t]*(?:=|$)/i.test(text)) ?? '';

  return /^handling[ \t]*=[ \t]*(?:strict|"strict")$/i.test(handling);
}

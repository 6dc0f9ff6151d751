import { pick } from './random.ts';

/**
 * Text that breaks encoders: separators, quotes, line breaks, escapes, and characters outside the
 * Basic Multilingual Plane.
 */
export const AWKWARD: readonly string[] = [
  ...Array.from('",\r\n\t\\ \u0001\u001f\u007f\u0085\u2028\ufeffé🎉\u{10ffff}'),
  '""',
  '\r\n',
  '\\.',
  '\\N',
  'NULL',
  '{"a":1}',
  'e\u0301',
  'שלום',
  'مرحبا',
  '漢字',
  '👩‍👩‍👧',
];

/** Survey names that are special in a header, a URL, a file system, SQL or JSON. */
export const SPECIAL_NAMES = [
  'a\r\nX-Evil: 1',
  '"; filename="evil',
  "a'; --",
  '../../etc/passwd',
  '%0d%0a',
  '%2F',
  'a&b=c',
  'a+b #c',
  ' ',
  '\u202eexe.csv',
  'x'.repeat(2500),
  '漢'.repeat(800),
  '{"error":{}}',
  '$1',
  '__proto__',
  'null',
];

/** Text that Postgres can store (no NUL, no lone surrogates), with much that breaks encoders. */
export function awkwardText(random: () => number): string {
  const parts = Array.from({ length: Math.floor(6 * random()) }, () =>
    random() < 0.6 ? pick(random, AWKWARD) : anyCharacters(random),
  );

  return parts.join('').replaceAll('\0', '');
}

function anyCharacters(random: () => number): string {
  const end = pick(random, [0x80, 0x800, 0xd800, 0x110000]);
  const codes = Array.from({ length: 1 + Math.floor(8 * random()) }, () =>
    Math.floor(end * random()),
  );

  return String.fromCodePoint(...codes).toWellFormed();
}

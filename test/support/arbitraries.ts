import fc from 'fast-check';

/** Text that breaks encoders: separators, quotes, line breaks, escapes, and characters outside the Basic Multilingual Plane. */
const AWKWARD = [
  '"',
  '""',
  ',',
  '\r',
  '\n',
  '\r\n',
  '\t',
  '\\',
  '\\.',
  '\\N',
  ' ',
  'NULL',
  '{"a":1}',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  'é',
  'e\u0301',
  'שלום',
  'مرحبا',
  '漢字',
  '🎉',
  '👩‍👩‍👧',
  '\u{10ffff}',
];

/** Text that Postgres can store (no NUL, no lone surrogates), with much that breaks encoders. */
export const pgText = fc
  .array(fc.oneof(fc.constantFrom(...AWKWARD), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 6 })
  .map((parts) => parts.join('').replaceAll('\0', ''));

/** Such text, or null. */
export const pgCell = fc.option(pgText, { freq: 5 });

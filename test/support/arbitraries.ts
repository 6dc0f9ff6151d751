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

const joined = (parts: readonly string[]) => parts.join('');

/** Any character that Postgres can store: no NUL, no lone surrogates. `fc.string` takes seconds to prepare for as many. */
const character = fc
  .oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Text that Postgres can store, with much that breaks encoders. */
export const pgText = fc
  .array(fc.oneof(fc.constantFrom(...AWKWARD), fc.array(character, { maxLength: 8 }).map(joined)), { maxLength: 6 })
  .map(joined);

/** Such text, or null. */
export const pgCell = fc.option(pgText, { freq: 5 });

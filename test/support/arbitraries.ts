import fc from 'fast-check';
import { AWKWARD } from './awkward-text.ts';

const joined = (parts: readonly string[]) => parts.join('');

/**
 * Any character that Postgres can store: no NUL, no lone surrogates. `fc.string` takes seconds to
 * prepare for as many.
 */
const character = fc
  .oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Text that Postgres can store, with much that breaks encoders. */
export const pgText = fc
  .array(fc.oneof(fc.constantFrom(...AWKWARD), fc.array(character, { maxLength: 8 }).map(joined)), {
    maxLength: 6,
  })
  .map(joined);

/** Text that Postgres can store, or null. */
export const pgCell = fc.option(pgText, { freq: 5 });

/** A line of a question's text that lists a choice, or nearly does. */
const choiceLine = fc
  .tuple(
    fc.constantFrom('', '', '', ' ', '\t', '\u00a0', '\r'),
    fc.constantFrom('', '', '- ', '-', '-\u00a0\t', '--', '•'),
    fc.constantFrom('A', 'B', 'C', 'A', 'B', 'a', 'b', 'É', 'А', 'AB', ''),
    fc.constantFrom('', '.', ')', ':', ' .', '\t:', '..', ';'),
    fc.constantFrom(' ', ' ', '\t', '\u00a0', '  ', '', '\u2003', '\r'),
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          'yes',
          'no',
          'friend of mine',
          'نعم',
          'a "b", c',
          '. x',
          ') x',
          '',
          '\r',
          '-',
        ),
      },
      { weight: 1, arbitrary: pgText },
    ),
    fc.constantFrom('', '', '\r', ' ', ' \r', '\r\r', '\u00a0\r', '\r '),
  )
  .map(joined);
const listedChoices = fc
  .tuple(
    fc.array(fc.constantFrom('yes', 'no', 'maybe', 'كلا', 'a "b"', 'x\u2028'), { maxLength: 4 }),
    fc.boolean(),
  )
  .map(([labels, isCrlf]) =>
    labels.map((label, i) => `- ${'ABCD'[i]}. ${label}${isCrlf ? '\r' : ''}`).join('\n'),
  );

/** The text of a question, which often lists choices, or lines that look like them. */
export const questionText = fc
  .tuple(
    fc.constantFrom('Which?', 'A friend said:', '', 'A. one', 'Which?\n'),
    fc.oneof(
      listedChoices,
      listedChoices,
      fc.array(choiceLine, { maxLength: 5 }).map((lines) => lines.join('\n')),
    ),
    fc.array(choiceLine, { maxLength: 1 }),
  )
  .map(([first, choices, more]) => [first, choices, ...more].join('\n'));

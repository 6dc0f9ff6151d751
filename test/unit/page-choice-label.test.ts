import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choiceLabel } from '../../site/home/choice-label.ts';
import { questionText } from '../support/arbitraries.ts';
import { choicesOf, labelOf } from '../support/choices.ts';

test('the page reads the choices of a question’s text as the API does', () => {
  let found = 0;
  fc.assert(
    fc.property(questionText, (text) => {
      for (const response of ['A', 'b', 'C', 'AB', ' A', ''])
        expect(choiceLabel(response, text)).toBe(labelOf(response, text));
      if (choicesOf(text)) found++;
    }),
    { numRuns: 500 },
  );
  expect(found).toBeGreaterThan(20);
});

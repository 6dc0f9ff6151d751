import { expect, test } from 'vitest';
import { selection } from '../../site/home/texts.ts';

test('the text of a filter names three values, and how many more there are', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const texts = [3, 4, 5].map((count) => selection.filter('Form', names.slice(0, count)));
  expect(texts).toEqual(['Form: a, b, c', 'Form: a, b, c and 1 more', 'Form: a, b, c and 2 more']);
});

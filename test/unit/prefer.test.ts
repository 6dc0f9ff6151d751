import { expect, test } from 'vitest';
import { prefersStrictHandling } from '../../src/http/prefer.ts';

test.each([
  'handling=strict',
  'Handling\t=\t"STRICT"; why="a, b; c"',
  'return=minimal; foo="handling=lenient, \\"", wait=10 ,, handling=strict;x',
  'x="a,handling=lenient",handling=strict, handling=lenient',
])('%s asks for strict handling', (prefer) => {
  expect(prefersStrictHandling(prefer)).toBe(true);
});

test.each([
  '',
  'strict',
  'handling=lenient, handling=strict',
  'handling, handling=strict',
  'handling=strictly',
  'handling="strict',
  'handling=strict lenient',
  'handlings=strict',
  'x; handling=strict',
  'x=", handling=strict',
])('%j does not', (prefer) => {
  expect(prefersStrictHandling(prefer)).toBe(false);
});

test('long headers take no longer than their length', () => {
  for (const part of ['"', '\\"', 'a', ' ', ';', 'a;', '","', '"\\']) {
    expect(prefersStrictHandling(`${part.repeat(200_000)}"`)).toBe(false); // in quadratic time, the test runs out of its own
  }
});

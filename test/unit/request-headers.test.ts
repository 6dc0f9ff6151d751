import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prefersGzip } from '../../src/http/accept-encoding.ts';
import { ifNoneMatchNames } from '../../src/http/etag.ts';
import { prefersStrictHandling } from '../../src/http/prefer.ts';

test.each<[header: string, isPreferred: boolean]>([
  ['GZip', true],
  ['X-GZIP;q=0.5', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['identity;q=0, gzip;q=0.001', true],
  [',quoted="a",gzip,', true],
  ['', false],
  ['gzip;q=0.000, *', false],
  ['identity, gzip;q=0.9', false],
  ['*, gzip;q=0.9', false], // * includes identity
])('Accept-Encoding: %j prefers gzip: %s', (header, isPreferred) => {
  expect(prefersGzip(header)).toBe(isPreferred);
});

test('If-None-Match names the tags in its list, weak or not, or any tag', () => {
  const tags = fc.array(fc.constantFrom('"a"', '"b"', '""', '"A"', '"b,a"', '"W/"', '"\u00e9"'), {
    minLength: 1,
  });
  const [weak, comma] = [fc.constantFrom('', 'W/'), fc.constantFrom(',', ' , ', '\t,,')];
  fc.assert(
    fc.property(tags, weak, weak, comma, (list, mark, other, separator) => {
      const header = separator + list.map((tag) => mark + tag).join(separator);
      expect(ifNoneMatchNames(header, `${other}"a"`)).toBe(list.includes('"a"'));
    }),
  );
  expect(ifNoneMatchNames(' * ', '"a"')).toBe(true);
  for (const header of ['', ',', 'a', '"a', 'w/"a"', 'W/x"a"', '"a" "b"', '"a "'])
    expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
});

test.each<[header: string, isStrict: boolean]>([
  ['handling=strict', true],
  ['Handling\t=\t"STRICT"; why="a, b; c"', true],
  ['return=minimal; foo="handling=lenient, \\"", wait=10 ,, handling=strict;x', true],
  ['x="a,handling=lenient",handling=strict, handling=lenient', true],
  ['', false],
  ['handling=lenient, handling=strict', false],
  ['handling=strict lenient', false],
  ['x=", handling=strict', false],
])('Prefer: %j asks for strict handling: %s', (header, isStrict) => {
  expect(prefersStrictHandling(header)).toBe(isStrict);
});

test('a long header Prefer takes no longer than its length', () => {
  for (const part of ['"', '\\"', 'a', ' ', ';', 'a;', '","', '"\\']) {
    // in quadratic time, the test exceeds its timeout
    expect(prefersStrictHandling(`${part.repeat(200_000)}"`)).toBe(false);
  }
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prefersGzip } from '../../src/http/accept-encoding.ts';
import { ifNoneMatchNames } from '../../src/http/etag.ts';
import { prefersStrictHandling } from '../../src/http/prefer.ts';

test.each([
  'GZip',
  'X-GZIP;q=0.5',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  ' gzip\t; Q=1.000 ',
  'identity;q=0, gzip;q=0.001',
  'identity, *',
  ',quoted="a",gzip,',
])('Accept-Encoding: %j prefers gzip', (header) => {
  expect(prefersGzip(header)).toBe(true);
});

test.each([
  '',
  'gzip;q=0.000, *',
  'gzipped, agzip',
  'identity, gzip;q=0.9',
  '*, gzip;q=0.9', // * includes identity
  'gzip;q=2',
  'gzip;q=0.0001',
  'gzip;level=9',
  'gzip deflate',
])('Accept-Encoding: %j does not prefer gzip', (header) => {
  expect(prefersGzip(header)).toBe(false);
});

test('If-None-Match names the tags in its list, weak or not, or any tag', () => {
  const tags = fc.array(fc.constantFrom('"a"', '"b"', '""', '"A"', '"b,a"', '"W/"', '"\u00e9"'), { minLength: 1 });
  const [weak, comma] = [fc.constantFrom('', 'W/'), fc.constantFrom(',', ' , ', '\t,,')];
  fc.assert(
    fc.property(tags, weak, weak, comma, (list, mark, other, separator) => {
      const header = separator + list.map((tag) => mark + tag).join(separator);
      expect(ifNoneMatchNames(header, `${other}"a"`)).toBe(list.includes('"a"'));
    }),
  );
  expect(ifNoneMatchNames(' * ', '"a"')).toBe(true);
});

const MALFORMED = ['a', '"a', 'a"', 'w/"a"', 'W/ "a"', '"a" "b"', '"a", b', '"a" *', '"a "', '*, "a"', '"a"b"'];
test.each([undefined, '', ',', ...MALFORMED])('If-None-Match: %j cannot be parsed, and names no tag', (header) => {
  expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
});

test.each([
  'handling=strict',
  'Handling\t=\t"STRICT"; why="a, b; c"',
  'return=minimal; foo="handling=lenient, \\"", wait=10 ,, handling=strict;x',
  'x="a,handling=lenient",handling=strict, handling=lenient',
])('Prefer: %s asks for strict handling', (header) => {
  expect(prefersStrictHandling(header)).toBe(true);
});

test.each([
  '',
  'strict',
  'handling=lenient, handling=strict',
  'handling, handling=strict',
  'handling="strict',
  'handling=strict lenient',
  'handlings=strict',
  'x; handling=strict',
  'x=", handling=strict',
])('Prefer: %j does not ask for strict handling', (header) => {
  expect(prefersStrictHandling(header)).toBe(false);
});

test('a long header Prefer takes no longer than its length', () => {
  for (const part of ['"', '\\"', 'a', ' ', ';', 'a;', '","', '"\\']) {
    expect(prefersStrictHandling(`${part.repeat(200_000)}"`)).toBe(false); // in quadratic time, the test runs out of its own
  }
});

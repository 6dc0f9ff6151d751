import { expect, test } from 'vitest';
import { prefersGzip } from '../../src/http/accept-encoding.ts';
import { ifNoneMatchNames } from '../../src/http/etag.ts';
import { prefersStrictHandling } from '../../src/http/prefer.ts';

test.each([
  'GZip',
  'X-GZIP;q=0.5',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  ' gzip\t; Q=1.000 ',
  'br, *;q=0.1',
  'identity;q=0, gzip;q=0.001',
  'identity;q=0.5, gzip;q=0.5',
  'identity, *',
  ',quoted="a",gzip,',
])('Accept-Encoding: %j prefers gzip', (header) => {
  expect(prefersGzip(header)).toBe(true);
});

test.each([
  '',
  'deflate, br',
  'gzip;q=0.000, *',
  '*;q=0',
  'gzipped, agzip',
  'identity, gzip;q=0.9',
  '*, gzip;q=0.9', // * includes identity
  'gzip;q=2',
  'gzip;q=',
  'gzip;q=0.0001',
  'gzip;level=9',
  'gzip deflate',
])('Accept-Encoding: %j does not prefer gzip', (header) => {
  expect(prefersGzip(header)).toBe(false);
});

test.each(['"a"', '  W/"a"  ', '"b","c,d" , "a",', ', ,"a"', ' * '])('If-None-Match: %j names "a"', (header) => {
  expect([ifNoneMatchNames(header, '"a"'), ifNoneMatchNames(header, 'W/"a"')]).toEqual([true, true]);
});

test.each([
  '"b"',
  '""',
  '"A"',
  '"b,a"',
  '"W/"',
  '"\u00e9"',
  // These cannot be parsed.
  undefined,
  '',
  'a',
  '"a',
  'a"',
  'w/"a"',
  'W/ "a"',
  '"a" "b"',
  '"a", b',
  '"a" *',
  '"a "',
  '*, "a"',
  ',',
  '"a"b"',
])('If-None-Match: %j does not name "a"', (header) => {
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
  'handling=strictly',
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

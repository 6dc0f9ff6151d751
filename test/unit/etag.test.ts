import { expect, test } from 'vitest';
import { ifNoneMatchNames } from '../../src/http/etag.ts';

test.each(['"a"', '  W/"a"  ', '"b","c,d" , "a",', ', ,"a"', ' * '])('If-None-Match: %j names "a"', (header) => {
  expect([ifNoneMatchNames(header, '"a"'), ifNoneMatchNames(header, 'W/"a"')]).toEqual([true, true]);
});

test.each(['"b"', '""', '"A"', '"b,a"', '"W/"', '"\u00e9"'])('If-None-Match: %j does not name "a"', (header) => {
  expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
});

test.each([
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
])('If-None-Match: %j cannot be parsed and names nothing', (header) => {
  expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
});

import { describe, expect, test } from 'vitest';
import { ifNoneMatchNames } from '../../src/http/etag.ts';

describe('If-None-Match', () => {
  test.each(['"a"', 'W/"a"', '  W/"a"  ', '"b", W/"a"', '"b","c,d" , "a",', ', ,"a"', '*', ' * '])(
    '%j names "a"',
    (header) => {
      expect([ifNoneMatchNames(header, '"a"'), ifNoneMatchNames(header, 'W/"a"')]).toEqual([true, true]);
    },
  );

  test.each(['"b"', 'W/"b"', '""', '"A"', '"b,a"', '"W/"', '"\u00e9"'])('%j does not name "a"', (header) => {
    expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
  });

  test.each([
    undefined,
    '',
    ' ',
    'a',
    '"a',
    'a"',
    'w/"a"',
    'W/ "a"',
    '"a" "b"',
    '"a", b',
    '"a" *',
    '"a "',
    '"b, W/", "a"',
    '*, "a"',
    '**',
    ',',
    '"a"b"',
  ])('%j cannot be parsed and names nothing', (header) => {
    expect(ifNoneMatchNames(header, 'W/"a"')).toBe(false);
  });
});

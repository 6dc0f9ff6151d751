import { describe, expect, test } from 'vitest';
import { etagOf, readIfNoneMatch } from '../../src/http/etag.ts';

describe('a tag', () => {
  test('is weak, and 128 bits of a hash', async () => {
    expect(await etagOf('a')).toMatch(/^W\/"[\da-f]{32}"$/);
  });

  test('differs with every part, and with where one part ends and the next begins', async () => {
    const tags = await Promise.all([
      etagOf(),
      etagOf(''),
      etagOf('ab'),
      etagOf('a', 'b'),
      etagOf(['a', 'b']),
      etagOf('a,b'),
      etagOf({ a: 'b' }),
    ]);
    expect(new Set(tags).size).toBe(tags.length);
    expect(await etagOf('a', 'b')).toBe(await etagOf('a', 'b'));
  });
});

describe('If-None-Match', () => {
  test.each(['"a"', 'W/"a"', '  W/"a"  ', '"b", W/"a"', '"b","c,d" , "a",', ', ,"a"', '*', ' * '])(
    '%j names "a"',
    (header) => {
      const known = readIfNoneMatch(header);
      expect([known?.('"a"'), known?.('W/"a"')]).toEqual([true, true]);
    },
  );

  test.each(['"b"', 'W/"b"', '""', '"A"', '"b,a"', '"W/"', '"\u00e9"'])('%j does not', (header) => {
    expect(readIfNoneMatch(header)?.('W/"a"')).toBe(false);
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
  ])('%j counts as none', (header) => {
    expect(readIfNoneMatch(header)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { etagOf, ifNoneMatchNames } from '../../src/http/etag.ts';

describe('a tag', () => {
  const tagOf = (account: string, body: string) => etagOf(account, new TextEncoder().encode(body));

  test('is weak, with 128 bits of a hash', async () => {
    expect(await tagOf('a', 'body')).toMatch(/^W\/"[\da-f]{32}"$/);
  });

  test('depends on the account and on the body, and on nothing else', async () => {
    const tags = await Promise.all([tagOf('a', ''), tagOf('a', 'body'), tagOf('a', 'body '), tagOf('b', 'body')]);
    expect(new Set(tags).size).toBe(tags.length);
    expect(await tagOf('a', 'body')).toBe(tags[1]);
  });
});

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

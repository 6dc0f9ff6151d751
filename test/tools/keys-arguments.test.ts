import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { parseDuration, parseKeyId, parseKeyName } from '../../tools/keys/arguments.ts';

describe('a duration', () => {
  test.each([
    ['5s', 5_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
    ['007d', 604_800_000],
    ['36500d', 3_153_600_000_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration('--expires', text)).toBe(ms);
  });

  test.each(['', '0', '0d', '5', 'd', '1.5h', '-1d', '3 weeks', '1D', '1d\n'])('refuses %j', (text) => {
    expect(() => parseDuration('--expires', text)).toThrow(
      /^--expires: ".*" is not a duration such as 90d, 12h or 30m$/,
    );
  });

  test.each(['36501d', '876001h', '5215w', `${'9'.repeat(400)}d`])('refuses %s as too long', (text) => {
    expect(() => parseDuration('--grace', text)).toThrow(`--grace: ${text} is too long: at most 36500d`);
  });

  test.each(['0', '0s', '0h', '00d'])('accepts %s as zero with orZero', (text) => {
    expect(parseDuration('--grace', text, { orZero: true })).toBe(0);
  });
});

describe('a name', () => {
  test('has up to 200 characters', () => expect(parseKeyName('🙂'.repeat(200))).toBe('🙂'.repeat(200)));

  test.each([
    [' ', '--name: is empty: expected 1 to 200 characters'],
    ['🙂'.repeat(201), '--name: has 201 characters: expected 1 to 200'],
    ['a\nb', '--name: has control characters, such as line breaks'],
  ])('is not %j', (text, message) => {
    expect(() => parseKeyName(text)).toThrow(message);
  });
});

describe('a key id', () => {
  test('may be in upper case', () => {
    expect(parseKeyId('7C9E6679-7425-40DE-944B-E07FC1F90AE7')).toBe('7c9e6679-7425-40de-944b-e07fc1f90ae7');
  });

  test('is a UUID', () => {
    expect(() => parseKeyId('42')).toThrow(
      '<id>: this is not the id of a key (a UUID). "npm run keys -- list" shows the ids.',
    );
  });

  test('is not the key, which is not quoted', () => {
    expect(() => parseKeyId(generateApiKey())).toThrow(
      /^<id>: this is a key, not the id of one\. "npm run keys -- list" shows the ids\.$/,
    );
  });
});

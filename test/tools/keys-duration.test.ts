import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../tools/keys/duration.ts';

describe('durations', () => {
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

  test.each(['36501d', '876001h', '5215w', `${'9'.repeat(400)}d`])('says that %s is too long', (text) => {
    expect(() => parseDuration('--grace', text)).toThrow(`--grace: ${text} is too long: at most 36500d`);
  });

  test.each(['0', '0s', '0h', '00d'])('takes %s for none where that is allowed', (text) => {
    expect(parseDuration('--grace', text, { orZero: true })).toBe(0);
  });
});

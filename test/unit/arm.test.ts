import { expect, test } from 'vitest';
import { fingerprint32 } from '../../src/encode/farmhash.ts';
import { type Arm, armOf, parseArm } from '../../src/responses/arm.ts';

/** Of the survey platform's own implementation. */
test.each<[seed: number, arms: Record<string, number>]>([
  [7, { seed_7: 1, seed_7_1: 6, seed_2: 2, seed_25_2: 10, seed_100_5: 81 }],
  [2960024492, { seed_100: 93, seed_100_1: 15, seed_3: 3, seed_25_2: 25, seed_100_5: 67 }],
  [4294967295, { seed_25_2: 10, seed_100_5: 84 }],
])('the arms of the seed %i are %j', (seed, arms) => {
  const found = Object.keys(arms).map((name) => [name, armOf(parseArm(name) as Arm, seed)]);
  expect(Object.fromEntries(found)).toEqual(arms);
});

/** Of pyfarmhash 0.4.0: `farmhash.fingerprint32`. */
test.each<[text: string, hash: number]>([
  ['', 3696677242],
  ['7', 2762651575],
  ['1234', 1527950834],
  ['12345', 2946287185],
  ['1234567', 3846810424],
  ['4294967295', 1639350435],
  ['123456789012', 3307383567],
])('the fingerprint of %j is %i', (text, hash) => {
  expect(fingerprint32(text)).toBe(hash);
});

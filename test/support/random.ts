/** Returns numbers from 0 to 1 (exclusive). */
export type Random = () => number;

/**
 * A seeded generator of numbers from 0 to 1 (exclusive): mulberry32,
 * https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
 */
export function randomFrom(seed: number): Random {
  let state = Math.trunc(seed);
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @returns a random element */
export const pick = <T>(random: Random, from: readonly T[]): T =>
  from[below(random, from.length)] as T;

/** @returns a random integer from 0 to `end` (exclusive) */
export const below = (random: Random, end: number): number => Math.floor(random() * end);

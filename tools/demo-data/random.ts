/** A seeded generator of pseudo-random values. */
export type Random = ReturnType<typeof randomFrom>;

/**
 * The algorithm is mulberry32 by Tommy Ettinger (public domain):
 * https://github.com/bryc/code/blob/master/jshash/PRNGs.md#mulberry32.
 */
export function randomFrom(seed: number) {
  let state = seed | 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** An integer from `min` to `max`, inclusive. */
  const integer = (min: number, max: number): number =>
    min + Math.floor(fraction() * (max - min + 1));
  const characters = (length: number, base: number): string =>
    Array.from({ length }, () => integer(0, base - 1).toString(base)).join('');
  const hex = (length: number): string => characters(length, 16);
  return {
    integer,
    /** One of the items. */
    pick: <T>(items: readonly [T, ...T[]]): T => items[integer(0, items.length - 1)] ?? items[0],
    /** True with the given probability. */
    chance: (probability: number): boolean => fraction() < probability,
    /** A string of decimal digits without a leading zero. */
    digits: (length: number): string => `${integer(1, 9)}${characters(length - 1, 10)}`,
    /** A version 4 UUID. */
    uuid: (): string =>
      `${hex(8)}-${hex(4)}-4${hex(3)}-${integer(8, 11).toString(16)}${hex(3)}-${hex(12)}`,
  };
}

/*
 * The distribution of numbers that docs/api.md describes, in exact arithmetic: as multiples of
 * 10^-16, which numbers of 15 digits are, and quarters of their differences.
 */

const FRACTION_DIGITS = 16;
const POWERS = Array.from({ length: 2 * FRACTION_DIGITS }, (_, i) => 10n ** BigInt(i));
const ONE = 10n ** BigInt(FRACTION_DIGITS);
const MOST_BINS = 20;

/** @param values texts with their records, some of which are numbers @returns null if none is */
export function distributionOf(
  values: readonly { readonly value: string; readonly records: readonly unknown[] }[],
) {
  const numbers = values
    .filter(({ value }) => /^(?!(?:\D*\d){16})-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value))
    .flatMap(({ value, records }) => records.map(() => parse(value)))
    .toSorted((a, b) => Number(a - b));
  if (numbers.length === 0) return null;

  const quartile = (quarter: number) => {
    const place = (quarter * (numbers.length - 1)) / 4;
    const [low = 0n, high = 0n] = [numbers[Math.floor(place)], numbers[Math.ceil(place)]];
    return low + ((high - low) * BigInt(4 * (place % 1))) / 4n;
  };
  const [min, max] = [quartile(0), quartile(4)];
  const smallest = POWERS.find((power) => power === ONE || numbers.some((n) => n % (10n * power)));
  const steps = POWERS.flatMap((power) => [power, 2n * power, 5n * power]);
  const binsOf = (step: bigint) => floor(max, step) - floor(min, step);
  const step = steps.find((one) => one >= (smallest ?? 0n) && binsOf(one) < MOST_BINS) ?? 1n;
  const multiples = Map.groupBy(numbers, (number) => floor(number, step));
  const bins = Array.from({ length: 1 + Number(binsOf(step)) }, (_, i) => {
    const multiple = floor(min, step) + BigInt(i);
    return { from: print(multiple * step), records: multiples.get(multiple)?.length ?? 0 };
  });

  return {
    records: numbers.length,
    min: print(min),
    q1: print(quartile(1)),
    median: print(quartile(2)),
    q3: print(quartile(3)),
    max: print(max),
    sum: print(numbers.reduce((sum, number) => sum + number, 0n)),
    step: min === max ? null : print(step),
    bins: min === max ? [{ from: print(min), records: numbers.length }] : bins,
  };
}

const floor = (number: bigint, step: bigint) =>
  number / step - (number < 0n && number % step !== 0n ? 1n : 0n);

function parse(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
}

function print(number: bigint): string {
  const digits = String(number)
    .replace('-', '')
    .padStart(FRACTION_DIGITS + 1, '0');
  const [whole, fraction] = [digits.slice(0, -FRACTION_DIGITS), digits.slice(-FRACTION_DIGITS)];
  return `${number < 0n ? '-' : ''}${`${whole}.${fraction}`.replace(/\.?0+$/, '')}`;
}

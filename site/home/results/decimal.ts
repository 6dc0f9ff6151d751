/* Plain decimals, such as `-1.5`, in exact arithmetic: doubles would round them. */

/** What the service counts as a number: at most 15 digits, no exponent, no leading zeros. */
export const isDecimal = (text: string): boolean =>
  /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= 15;

const placesOf = (text: string) => text.split('.')[1]?.length ?? 0;

/** A decimal as a whole number of units of its last decimal place, or of a later one. */
function unitsOf(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function textOf(units: bigint, places: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return `${sign}${digits.slice(0, point)}${fraction && `.${fraction}`}`;
}

export function sumOf(a: string, b: string): string {
  const places = Math.max(placesOf(a), placesOf(b));
  return textOf(unitsOf(a, places) + unitsOf(b, places), places);
}

export function isAtMost(a: string, b: string): boolean {
  const places = Math.max(placesOf(a), placesOf(b));
  return unitsOf(a, places) <= unitsOf(b, places);
}

/** The mean of `count` numbers, rounded to one decimal place more than they have, at least two. */
export function meanOf(sum: string, count: number): string {
  const places = Math.max(2, placesOf(sum) + 1);
  const divisor = 2n * BigInt(count);
  const dividend = 2n * unitsOf(sum, places) + BigInt(count);
  const rest = ((dividend % divisor) + divisor) % divisor; // division rounds towards zero
  return textOf((dividend - rest) / divisor, places);
}

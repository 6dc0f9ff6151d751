const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A number of bytes for people, in powers of 1,000: `1.9 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 999.95 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

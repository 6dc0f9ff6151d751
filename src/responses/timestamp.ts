/**
 * Microseconds since 1970-01-01T00:00:00Z. A bigint, since the years 1 to 9999 do not fit the 53
 * bits of a double.
 */
export type Microseconds = bigint;

/**
 * The calendar intervals that digests cover: units of Postgres's `date_trunc`. The first is the
 * default.
 */
export const INTERVALS = ['day', 'hour', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

const DATE = /^\d{4}-\d\d-\d\d/;
const TIME = /^[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d{1,30}))?/;
const OFFSET = /^(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const MICROSECONDS_PER_SECOND = 1_000_000n;
/** The range of `responses.timestamp`: see migration 0001. */
const FIRST: Microseconds = -62_135_596_800n * MICROSECONDS_PER_SECOND; // 0001-01-01
const END: Microseconds = 253_402_300_800n * MICROSECONDS_PER_SECOND; // 10000-01-01

/**
 * Parses an RFC 3339 timestamp (section 5.6), with `T` and `Z` in either case, or with a space
 * between date and time. A date alone is the start of that day in UTC. A space before the offset is
 * read as the `+` that the client did not escape.
 *
 * @returns the time, rounded up to a whole microsecond; undefined if the text is not a timestamp
 */
export function parseInstant(text: string): Microseconds | undefined {
  const [date] = DATE.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;

  const midnight = BigInt(midnightOf(date)) * 1000n;
  const rest = text.slice(date.length);
  if (rest === '') return midnight;

  const [time, hours, minutes, seconds, fraction = ''] = TIME.exec(rest) ?? [];
  if (time === undefined) return undefined;

  const offset = OFFSET.exec(rest.slice(time.length).replace(/^ (?=\d)/, '+'));
  if (!offset) return undefined;

  const [, sign, offsetHours = '0', offsetMinutes = '0'] = offset;
  const east = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  const wholeSeconds = (Number(hours) * 60 + Number(minutes) - east) * 60 + Number(seconds);
  const finer = /[1-9]/.test(fraction.slice(6)) ? 1n : 0n;

  return (
    midnight +
    BigInt(wholeSeconds) * MICROSECONDS_PER_SECOND +
    BigInt(fraction.slice(0, 6).padEnd(6, '0')) +
    finer
  );
}

/** @returns the time as Postgres accepts it, clamped to the range of `responses.timestamp` */
export function formatInstant(microseconds: Microseconds): string {
  if (microseconds <= FIRST) return '0001-01-01T00:00:00Z';
  if (microseconds >= END) return '10000-01-01T00:00:00Z';

  const rest = ((microseconds % 1000n) + 1000n) % 1000n;
  const milliseconds = Number((microseconds - rest) / 1000n);
  return new Date(milliseconds).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`);
}

/** In milliseconds. */
const midnightOf = (date: string) => Date.parse(`${date}T00:00:00Z`);

/** Whether a date such as 2026-03-01 exists, from year 1. 30 February is parsed as 2 March. */
export function isDate(date: string): boolean {
  const midnight = midnightOf(date);
  return (
    date >= '0001' && !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date)
  );
}

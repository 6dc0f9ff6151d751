const FORM = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,6})?(?:Z|[+-](\d{2})(?::?(\d{2}))?)$/;

/**
 * Whether a text is a moment in time as the service writes it (`2026-03-01T00:03:43.770Z`) or as Postgres prints it
 * (`2026-03-01 00:03:43.770047+00`), on a day that exists. Offsets other than UTC are fine; one has to be there. The
 * text itself goes to Postgres, which reads both: a JS `Date` would drop the microseconds.
 *
 * Narrower than Postgres, which also takes `infinity`, 24:00:00, a 60th second and hours without minutes.
 */
export function isTimestamp(text: string): boolean {
  const match = FORM.exec(text);
  if (!match) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHours = 0, offsetMinutes = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  return (
    year >= 1 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysIn(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    offsetHours <= 15 && // Postgres' own limit
    offsetMinutes <= 59
  );
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

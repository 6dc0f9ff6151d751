/* Days are texts, YYYY-MM-DD. Time zones are names of the IANA database. */

export const DAY_MS = 86_400_000;

/** The day of a time, in UTC. @param time in milliseconds since 1970 */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Whether a text is a day. */
export const isDay = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && dayAfter(text, 0) === text;

/** The day that comes so many days after another one. */
export function dayAfter(day: string, count: number): string {
  const time = Date.parse(day) + count * DAY_MS;
  return Number.isNaN(time) ? '' : dayOf(time);
}

/**
 * What a clock in a time zone shows: `2026-03-01 09:30:00`. @param time in milliseconds since 1970
 */
const clock = (time: number, zone: string) =>
  new Date(time).toLocaleString('sv-SE', { timeZone: zone });

/** Periods, by name: their first and their last day, seen from a day. Weeks begin on Monday. */
export const PERIODS = new Map<string, (today: string) => [first: string, last: string]>([
  ['last-7-days', (today) => [dayAfter(today, -6), today]],
  [
    'last-week',
    (today) => {
      const monday = -((Date.parse(today) / DAY_MS + 3) % 7);
      return [dayAfter(today, monday - 7), dayAfter(today, monday - 1)];
    },
  ],
]);

/** The day in a time zone. */
export const dayIn = (zone: string, time = Date.now()): string => clock(time, zone).slice(0, 10);

/**
 * The instant at which a day begins in a time zone, ISO 8601. Some days begin after midnight,
 * because clocks were set forward then.
 */
export function startOf(day: string, zone: string): string {
  const utc = Date.parse(day);
  // A clock that changes on this day has one offset from UTC on the day before, and the other on
  // the day after.
  const starts = [utc - DAY_MS, utc + DAY_MS].map(
    (time) => utc + time - Date.parse(`${clock(time, zone)}Z`),
  );

  const found = starts.toSorted((a, b) => a - b).find((start) => dayIn(zone, start) === day);
  return new Date(found ?? Math.max(...starts)).toISOString();
}

/** Whether browsers know a time zone. */
export function isZone(name: string): boolean {
  try {
    return clock(0, name) !== '';
  } catch {
    return false;
  }
}

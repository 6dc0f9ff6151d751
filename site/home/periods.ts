const DAY = 86_400_000;
/** More bars would be too narrow on a phone. */
const MAX_PERIODS = 100;

/** A unit of time, whose periods are numbered. Times are in milliseconds, UTC. */
interface Unit {
  readonly index: (time: number) => number;
  readonly start: (index: number) => number;
}

/** Weeks begin on Monday: 29 December 1969, three days before time 0, was one. */
const ofDays = (count: number): Unit => ({
  index: (time) => Math.floor((time / DAY + 3) / count),
  start: (index) => (index * count - 3) * DAY,
});

const ofMonths = (count: number): Unit => ({
  index: (time) =>
    Math.floor((new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()) / count),
  start: (index) => new Date(0).setUTCFullYear(0, index * count, 1),
});

/** From the shortest to the longest. */
const UNITS = {
  day: ofDays(1),
  week: ofDays(7),
  month: ofMonths(1),
  year: ofMonths(12),
  decade: ofMonths(120),
  century: ofMonths(1200),
} satisfies Record<string, Unit>;

type UnitName = keyof typeof UNITS;

/** What is counted in a period. */
export type Measure = 'participants' | 'responses';

export interface Period extends Readonly<Record<Measure, number>> {
  /** The period's first and last day, YYYY-MM-DD. */
  readonly start: string;
  readonly end: string;
}

interface Periods {
  readonly unit: UnitName;
  readonly periods: readonly Period[];
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/**
 * Adds up the numbers of days by the shortest unit that gives at most 100 periods, without gaps. A
 * participant who answered on several days of a period counts once for each.
 *
 * @param days not empty; `day` is YYYY-MM-DD
 */
export function toPeriods(
  days: readonly ({ readonly day: string } & Readonly<Record<Measure, number>>)[],
): Periods {
  const times = days.map(({ day }) => Date.parse(day));
  const units = Object.entries(UNITS) as [UnitName, Unit][];
  for (const [unit, { index, start }] of units) {
    const first = index(times[0] ?? 0);
    const count = index(times.at(-1) ?? 0) - first + 1;
    if (count > MAX_PERIODS) continue;

    const periods = Array.from({ length: count }, (_, i) => ({
      start: dayOf(start(first + i)),
      end: dayOf(start(first + i + 1) - DAY),
      participants: 0,
      responses: 0,
    }));

    for (const [i, { participants, responses }] of days.entries()) {
      const period = periods[index(times[i] ?? 0) - first];
      if (!period) continue;

      period.participants += participants;
      period.responses += responses;
    }
    return { unit, periods };
  }
  throw new RangeError('A time is not within 10,000 years.');
}

import { DAY_MS, dayOf } from './dates.ts';
import type { Day } from './summaries.ts';

/** More bars would be too narrow on a phone. */
const MAX_PERIODS = 100;

/** A unit of time, whose periods are numbered. Times are in milliseconds, UTC. */
interface Unit {
  readonly index: (time: number) => number;
  readonly start: (index: number) => number;
}

/** Weeks begin on Monday: 29 December 1969, three days before time 0, was one. */
const ofDays = (count: number): Unit => ({
  index: (time) => Math.floor((time / DAY_MS + 3) / count),
  start: (index) => (index * count - 3) * DAY_MS,
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
} satisfies Record<string, Unit>;

type UnitName = keyof typeof UNITS;

/** The days from `start` to `end`, YYYY-MM-DD, both included. */
interface Period {
  readonly start: string;
  readonly end: string;
  participants: number;
  responses: number;
}

/**
 * Adds up the numbers of days by the shortest unit that gives at most 100 periods, or else by year,
 * without gaps. A participant who answered on several days of a period counts once for each.
 *
 * @param days not empty
 */
export function toPeriods(days: readonly Day[]) {
  const times = days.map(({ day }) => Date.parse(day));
  const [begin = 0, end = 0] = [times[0], times.at(-1)];
  const units = Object.entries(UNITS) as [UnitName, Unit][];
  const [unit, { index, start }] =
    units.find(([, one]) => one.index(end) - one.index(begin) < MAX_PERIODS) ??
    (['year', UNITS.year] as const);

  const first = index(begin);
  const periods = Array.from({ length: index(end) - first + 1 }, (_, i): Period => ({
    start: dayOf(start(first + i)),
    end: dayOf(start(first + i + 1) - DAY_MS),
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

import { expect, test } from 'vitest';
import { toPeriods } from '../../site/home/periods.ts';
import { days } from '../../site/home/texts.ts';

test.each([
  ['2026-01-31', '2026-05-10', 'day', '31 Jan 2026', '10 May 2026', 100],
  ['2026-01-31', '2026-05-11', 'week', 'week of 26 Jan 2026', 'week of 11 May 2026', 16],
  ['2026-01-31', '2034-03-01', 'month', 'January 2026', 'March 2034', 99],
  ['1980-12-31', '2026-01-01', 'year', '1980', '2026', 47],
  ['0001-01-02', '2026-01-01', 'year', '1', '2026', 2026],
] as const)(
  'the chart from %s to %s has a bar for each %s',
  (first, last, expected, from, to, bars) => {
    const { unit, periods } = toPeriods(
      [first, last].map((day, i) => ({ day, participants: 1 + i, responses: 2 + i })),
    );
    expect([unit, periods.length]).toEqual([expected, bars]);
    expect(
      [periods[0], periods.at(-1)].map((period) => days.of[unit](period?.start ?? '')),
    ).toEqual([from, to]);
    expect(periods.map(({ responses }) => responses)).toEqual([
      2,
      ...Array<number>(bars - 2).fill(0),
      3,
    ]);
    const dayAfter = (day = '') =>
      new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    expect(periods.slice(0, -1).map(({ end }) => dayAfter(end))).toEqual(
      periods.slice(1).map(({ start }) => start),
    );
  },
);

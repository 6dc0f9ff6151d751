import { copyButton, html, table } from '../dom.ts';
import { dayAfter, dayIn, startOf } from '../dates.ts';
import { loaded } from '../loaded.ts';
import { toPeriods } from '../periods.ts';
import { changed, filtersOf, hrefOf, isFiltered, zoneOf } from '../selection.ts';
import type { ViewContext } from '../view.ts';
import {
  answers,
  date,
  days as dayTexts,
  glance as texts,
  number,
  participants,
  results,
} from '../texts.ts';
import { histogram, tableText } from './bars.ts';

/**
 * How many participants and answers there are: of the selection; and, whatever days are selected,
 * of today, and of the last seven whole days beside the seven before. A participant counts once in
 * each.
 */
export function glanceView({ session, selection, signal }: ViewContext): HTMLElement {
  const zone = zoneOf(selection);
  const day = (count: number) => dayAfter(dayIn(zone), count);
  const count = (since: string, until: string) => {
    const days = { since: [since], until: [until], timezone: [zone] };
    return session.summaries.get(filtersOf(changed(selection, days)), signal, zone);
  };
  const request = () =>
    Promise.all([
      session.summaries.get(filtersOf(selection), signal, zone),
      count(day(0), day(0)),
      count(day(-7), day(-1)),
      count(day(-14), day(-8)),
    ]);

  const render = (counts: Awaited<ReturnType<typeof request>>) => {
    const [{ first, last }] = counts;
    const rows = counts.map((counted, i) =>
      html.tr(
        {},
        html.th({ scope: 'row' }, texts.rows[i]),
        html.td({}, number(counted.participants)),
        html.td({}, number(counted.responses)),
      ),
    );
    const hasDays = selection.has('since') || selection.has('until');
    return [
      table(texts.columns, rows, 'glance'),
      html.p(
        'note',
        first && last ? texts.times(first, last) : '',
        texts.zone,
        hasDays ? texts.anyDays : '',
      ),
    ];
  };
  return loaded(request, render, signal, { shape: '' }).node;
}

/**
 * Participants per day, or per week, month or longer if there are many days: also on days that are
 * not selected. A click on a bar selects its days.
 */
export function daysView({ session, selection, signal }: ViewContext): HTMLElement {
  const { summaries } = session;
  const zone = zoneOf(selection);
  const allDays = filtersOf(changed(selection, { since: [], until: [] }));
  const { since = '', until = '' } = Object.fromEntries(filtersOf(selection));
  const isOut = (first: string, last: string) =>
    startOf(dayAfter(last, 1), zone) <= since || (until !== '' && startOf(first, zone) >= until);

  return loaded(
    () => summaries.get(allDays, signal, zone),
    ({ days }) => {
      if (days.length === 0) return isFiltered(selection) ? [] : [html.p({}, texts.empty)];
      const { unit, periods } = toPeriods(days);
      const most = Math.max(...periods.map((period) => period.participants));

      const columns = periods.map(({ start, end, participants: people, responses }) => ({
        cells: [dayTexts.of[unit](start), participants(people), answers(responses)],
        height: people / most,
        href: hrefOf(changed(selection, { since: [start], until: [end] })),
        className: isOut(start, end) ? 'out' : '',
      }));
      const chart = histogram(
        columns,
        periods.map(({ start }) => date(start)),
      );
      return [
        html.figure(
          {},
          html.figcaption({}, dayTexts.caption(unit, summaries.zoneFor(zone), most)),
          chart,
          unit === 'day' ? undefined : html.p('note', dayTexts.sum),
          copyButton(() => tableText(chart), results.what, results.copyTable),
        ),
      ];
    },
    signal,
    { shape: '' },
  ).node;
}

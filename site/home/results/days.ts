import { daysChart } from '../chart.ts';
import { html, table } from '../dom.ts';
import { firstRows } from '../lists.ts';
import { loaded } from '../loaded.ts';
import { changed, filtersOf, isFiltered, zoneOf } from '../selection.ts';
import type { Day } from '../summaries.ts';
import type { ViewContext } from '../view.ts';
import { date, days as texts, number } from '../texts.ts';

/** When the selected answers came. The chart also has the days that are not selected. */
export function daysView({
  session: { summaries },
  selection,
  change,
  signal,
}: ViewContext): HTMLElement {
  const zone = zoneOf(selection);
  const allDays = filtersOf(changed(selection, { since: [], until: [] }));
  const { node } = loaded(
    () => summaries.get(allDays, signal, zone),
    ({ days }) => {
      if (days.length === 0) return isFiltered(selection) ? [] : [html.p({}, texts.empty)];
      const range = [selection.get('since') ?? '', selection.get('until') ?? ''] as const;
      const select = ([since, until]: readonly [string, string]) =>
        change({ since: [since], until: [until] });
      return [daysChart(days, summaries.zoneFor(zone), range, select, signal), daysTable(days)];
    },
    signal,
    { shape: 'days' },
  );
  return node;
}

function daysTable(days: readonly Day[]): HTMLElement {
  const details = html.details({}, html.summary({}, texts.table));
  details.addEventListener('toggle', () => details.append(...content()), { once: true });
  const content = () => {
    const body = html.tbody({});
    const showMore = firstRows(
      days,
      ({ day, responses, participants }) =>
        html.tr(
          {},
          html.th({ scope: 'row' }, date(day)),
          html.td({}, number(participants)),
          html.td({}, number(responses)),
        ),
      body,
    );
    return [table(texts.columns, body), showMore];
  };
  return details;
}

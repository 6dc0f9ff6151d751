import { headings, html } from '../dom.ts';
import { dayAfter, dayIn } from '../dates.ts';
import { loaded } from '../loaded.ts';
import { changed, filtersOf, zoneOf } from '../selection.ts';
import type { ViewContext } from '../view.ts';
import type { Summary } from '../summaries.ts';
import { glance as texts, number } from '../texts.ts';

/**
 * How many participants and answers there are: of the selection; and, whatever days are selected,
 * of today, and of the last seven whole days beside the seven before. A participant counts once in
 * each.
 */
export function glanceView({ session, selection, signal }: ViewContext): HTMLElement {
  const zone = zoneOf(selection);
  const today = dayIn(zone);
  const day = (count: number) => dayAfter(today, count);

  const count = (since: string, until: string) => {
    const days = { since: [since], until: [until], timezone: [zone] };
    return session.summaries.get(filtersOf(changed(selection, days)), signal, zone);
  };
  const request = () =>
    Promise.all([
      session.summaries.get(filtersOf(selection), signal, zone),
      count(today, ''),
      count(day(-7), day(-1)),
      count(day(-14), day(-8)),
    ]);

  const render = ([selected, ofToday, week, before]: Awaited<ReturnType<typeof request>>) => {
    const { first, last } = selected;
    const hasDays = selection.has('since') || selection.has('until');
    const rows = [selected, ofToday, week, before].map((counted, i) => row(texts.rows[i], counted));
    return [
      html.table('glance', html.thead({}, headings(texts.columns)), html.tbody({}, ...rows)),
      html.p('note', first && last ? texts.times(first, last) : '', ' ', texts.zone),
      hasDays ? html.p('note', texts.anyDays) : undefined,
    ];
  };
  return loaded(request, render, signal, { shape: 'glance' }).node;
}

const row = (label = '', { participants, responses }: Summary) =>
  html.tr(
    {},
    html.th({ scope: 'row' }, label),
    html.td({}, number(participants)),
    html.td({}, number(responses)),
  );

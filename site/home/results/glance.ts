import { html } from '../dom.ts';
import { dayAfter, dayIn } from '../dates.ts';
import { loaded } from '../loaded.ts';
import { changed, filtersOf, zoneOf } from '../selection.ts';
import type { ViewContext } from '../view.ts';
import type { Summary } from '../summaries.ts';
import { answers, participants, results as texts } from '../texts.ts';

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
    const { responses, participants: people } = before;
    const hasDays = selection.has('since') || selection.has('until');
    return [
      html.dl(
        'glance',
        tile(texts.selected, selected),
        tile(texts.today, ofToday),
        tile(texts.week, week, texts.before(people, responses)),
      ),
      hasDays ? html.p('note', texts.anyDays) : undefined,
    ];
  };
  return loaded(request, render, signal, { shape: 'glance' }).node;
}

const tile = (label: string, { participants: people, responses }: Summary, note?: string) =>
  html.div(
    {},
    html.dt({}, label),
    html.dd({}, participants(people)),
    html.dd('note', answers(responses)),
    note === undefined ? undefined : html.dd('note', note),
  );

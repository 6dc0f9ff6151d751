import type { Day, Summary } from './api.ts';
import { type Chart, type Days, daysChart } from './chart.ts';
import { element } from '../shared/dom.ts';
import { firstRows } from './lists.ts';
import { loaded } from './loaded.ts';
import type { Session } from './session.ts';
import { date, moment, number, overview as texts, survey as surveyTexts } from './texts.ts';

interface Overview {
  readonly element: HTMLElement;
  /** Shows in the chart which days the form selects. */
  readonly showDays: (days: Days) => void;
}

const FACTS: Readonly<Record<keyof typeof texts.facts, (summary: Summary) => string>> = {
  participants: (counts) => number(counts.participants),
  responses: (counts) => number(counts.responses),
  first: ({ first }) => (first ? moment(first) : texts.none),
  last: ({ last }) => (last ? moment(last) : texts.none),
};

/**
 * How many participants and answers a survey has, and when they came. Numbers that are known are shown while it is counted.
 *
 * @param survey its name
 * @param select called with the days that are selected in the chart
 */
export function overviewView(
  { api }: Session,
  survey: string,
  signal: AbortSignal,
  select: (days: Days) => void,
): Overview {
  const names = Object.keys(FACTS) as (keyof typeof FACTS)[];
  const values = names.map((name) => ({ name, node: element('dd', {}, texts.none) }));
  const showFacts = (counts: Summary) => {
    for (const { name, node } of values) node.textContent = FACTS[name](counts);
  };
  let selected: Days = ['', ''];
  let chart: Chart | undefined;

  const known = api.known(survey);
  if (known) showFacts(known);
  const { node } = loaded(
    () => api.summary([['survey', survey]], signal),
    (counts) => {
      showFacts(counts);
      if (counts.responses === 0) return [element('p', {}, surveyTexts.empty)]; // deleted since they were listed
      chart = daysChart(counts.days, counts.zone, select);
      chart.showDays(selected);
      return [chart.element, daysTable(counts.days)];
    },
    signal,
    { loading: () => texts.counting(api.known(survey)?.responses) },
  );
  node.className = 'days';
  return {
    element: element(
      'section',
      { 'aria-labelledby': 'overview' },
      element(
        'div',
        { className: 'title' },
        element('h2', { id: 'overview' }, texts.title),
        element('p', { className: 'note' }, texts.note),
      ),
      element(
        'dl',
        { className: 'facts' },
        ...values.map((fact) => element('div', {}, element('dt', {}, texts.facts[fact.name]), fact.node)),
      ),
      node,
    ),
    showDays(days) {
      selected = days;
      chart?.showDays(days);
    },
  };
}

function daysTable(days: readonly Day[]): HTMLElement {
  const details = element('details', {}, element('summary', {}, texts.table));
  details.addEventListener('toggle', () => details.append(...table()), { once: true });
  const table = () => {
    const body = element('tbody', {});
    const head = texts.columns.map((name) => element('th', { scope: 'col' }, name));
    const more = firstRows(
      days,
      ({ day, responses, participants }) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, date(day)),
          element('td', {}, number(participants)),
          element('td', {}, number(responses)),
        ),
      body,
    );
    return [element('table', {}, element('thead', {}, element('tr', {}, ...head)), body), more];
  };
  return details;
}

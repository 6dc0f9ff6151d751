import { type Chart, type Days, daysChart } from './chart.ts';
import { html, section, table } from '../shared/dom.ts';
import { firstRows } from './lists.ts';
import { loaded } from './loaded.ts';
import type { Session } from './session.ts';
import type { Day, Summary } from './summaries.ts';
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
  { summaries }: Session,
  survey: string,
  signal: AbortSignal,
  select: (days: Days) => void,
): Overview {
  const names = Object.keys(FACTS) as (keyof typeof FACTS)[];
  const values = names.map((name) => ({ name, node: html.dd({}, texts.none) }));
  const showFacts = (counts: Summary) => {
    for (const { name, node } of values) node.textContent = FACTS[name](counts);
  };
  let selected: Days = ['', ''];
  let chart: Chart | undefined;

  const known = summaries.known(survey);
  if (known) showFacts(known);
  const { node } = loaded(
    () => summaries.get([['survey', survey]], signal),
    (counts) => {
      showFacts(counts);
      if (counts.responses === 0) return [html.p({}, surveyTexts.empty)]; // deleted since they were listed
      chart = daysChart(counts.days, summaries.zone, select);
      chart.showDays(selected);
      return [chart.element, daysTable(counts.days)];
    },
    signal,
    { loading: () => texts.counting(summaries.known(survey)?.responses) },
  );
  node.className = 'days';
  const facts = html.dl(
    'facts',
    ...values.map((fact) => html.div({}, html.dt('note', texts.facts[fact.name]), fact.node)),
  );
  return {
    element: section('overview', texts.title, html.p('note', texts.note), facts, node),
    showDays(days) {
      selected = days;
      chart?.showDays(days);
    },
  };
}

function daysTable(days: readonly Day[]): HTMLElement {
  const details = html.details({}, html.summary({}, texts.table));
  details.addEventListener('toggle', () => details.append(...content()), { once: true });
  const content = () => {
    const body = html.tbody({});
    const more = firstRows(
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
    return [table(texts.columns, body), more];
  };
  return details;
}

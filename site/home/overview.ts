import { ApiError, type Day, type Summary } from './api.ts';
import { element } from '../shared/dom.ts';
import { daysChart } from './chart.ts';
import { firstRows } from './lists.ts';
import { loaded } from './loaded.ts';
import type { Session } from './session.ts';
import { TIME_ZONE, date, moment, number, overview as texts } from './texts.ts';

/**
 * How many responses a survey has, and when they came.
 *
 * @param survey its name
 */
export function overviewView({ api }: Session, survey: string, signal: AbortSignal): HTMLElement {
  const summary = async (zone = TIME_ZONE): Promise<Summary & { readonly zone: string }> => {
    try {
      return { ...(await api.summary(Object.entries({ survey, timezone: zone }), signal)), zone };
    } catch (error) {
      // The database does not know every zone that browsers know.
      if (zone !== 'UTC' && error instanceof ApiError && error.code === 'invalid_parameter') return summary('UTC');
      throw error;
    }
  };
  const facts: Readonly<Record<keyof typeof texts.facts, (summary: Summary) => string>> = {
    participants: (counts) => number(counts.participants),
    responses: (counts) => number(counts.responses),
    first: ({ first }) => (first ? moment(first) : texts.none),
    last: ({ last }) => (last ? moment(last) : texts.none),
  };
  const values = Object.entries(facts).map(([name, value]) => ({ name, value, node: element('dd', {}, texts.none) }));
  const labels: Readonly<Record<string, string>> = texts.facts;

  const { node } = loaded(
    () => summary(),
    (counts) => {
      for (const fact of values) fact.node.textContent = fact.value(counts);
      if (counts.responses === 0) return [element('p', {}, texts.empty)];
      return [daysChart(counts.days, counts.zone), daysTable(counts.days)];
    },
    signal,
  );
  node.className = 'days';
  return element(
    'section',
    { 'aria-labelledby': 'overview' },
    element('h2', { id: 'overview' }, texts.title),
    element(
      'dl',
      { className: 'facts' },
      ...values.map(({ name, node: value }) => element('div', {}, element('dt', {}, labels[name] ?? ''), value)),
    ),
    element('p', { className: 'note' }, texts.note),
    node,
  );
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

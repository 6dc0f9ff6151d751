import { ApiError } from './api.mjs';
import { element } from '../shared/dom.mjs';
import { daysChart } from './chart.mjs';
import { firstRows } from './lists.mjs';
import { loaded } from './loaded.mjs';
import { TIME_ZONE, date, moment, number, overview as texts } from './texts.mjs';

/** @typedef {import('./api.mjs').Summary} Summary */

/**
 * How many responses a survey has, and when they came.
 *
 * @param {import('./main.mjs').Session} session
 * @param {string} survey its name
 * @param {AbortSignal} signal
 */
export function overviewView({ api }, survey, signal) {
  /** @returns {Promise<Summary & { zone: string }>} */
  const summary = async (zone = TIME_ZONE) => {
    try {
      return { ...(await api.summary(Object.entries({ survey, timezone: zone }), signal)), zone };
    } catch (error) {
      // The database does not know every zone that browsers know.
      if (zone !== 'UTC' && error instanceof ApiError && error.code === 'invalid_parameter') return summary('UTC');
      throw error;
    }
  };
  /** @type {Record<keyof typeof texts.facts, (summary: Summary) => string>} */
  const facts = {
    responses: (counts) => number(counts.responses),
    participants: (counts) => number(counts.participants),
    first: ({ first }) => (first ? moment(first) : texts.none),
    last: ({ last }) => (last ? moment(last) : texts.none),
  };
  const values = Object.entries(facts).map(([name, value]) => ({ name, value, node: element('dd', {}, texts.none) }));
  const labels = /** @type {Record<string, string>} */ (texts.facts);

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

/** @param {Summary['days']} days */
function daysTable(days) {
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
          element('td', {}, number(responses)),
          element('td', {}, number(participants)),
        ),
      body,
    );
    return [element('table', {}, element('thead', {}, element('tr', {}, ...head)), body), more];
  };
  return details;
}

import { element } from '../shared/dom.ts';
import type { Day } from './api.ts';
import { toPeriods } from './periods.ts';
import { answers, chart as texts } from './texts.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** The minimum bar height in percent, so that one answer is visible next to a million. */
const LEAST_HEIGHT = 1.5;

/**
 * A bar chart of the answers per day, or per week, month or year if there are many days.
 *
 * @param days not empty
 * @param zone in which the days begin
 */
export function daysChart(days: readonly Day[], zone: string): HTMLElement {
  const { unit, periods } = toPeriods(days);
  const name = texts[unit];
  const counts = periods.map((period) => period.responses);
  const most = Math.max(...counts);
  const first = name.of(periods[0]?.start ?? '');
  const last = name.of(periods.at(-1)?.start ?? '');
  const busiest = name.of(periods[counts.indexOf(most)]?.start ?? '');

  const bars = periods.map(({ start, responses: count }, x) => {
    const height = count && Math.max(LEAST_HEIGHT, (100 * count) / most);
    return svg(
      'g',
      {},
      svg('title', {}, `${name.of(start)}: ${answers(count)}`),
      svg('rect', { x, width: 1, height: 100, class: 'space' }), // shows the title above a short bar too
      svg('rect', { x: x + 0.1, width: 0.8, y: 100 - height, height, class: 'bar' }),
    );
  });
  const plot = element(
    'div',
    { className: 'plot', role: 'img', 'aria-label': texts.label(name.each, first, last, busiest, answers(most)) },
    element('span', { className: 'note' }, answers(most)),
    svg('svg', { viewBox: `0 0 ${periods.length} 100`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...bars),
    element(
      'span',
      { className: 'note range' },
      element('span', {}, first),
      first === last ? undefined : element('span', {}, last),
    ),
  );
  plot.style.maxWidth = `${6 * periods.length}rem`;
  return element('figure', {}, element('figcaption', {}, texts.caption(name.each, zone)), plot);
}

function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: (Node | string)[]
): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

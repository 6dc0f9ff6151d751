import { button, html } from './dom.ts';
import type { Day } from './summaries.ts';
import { type Measure, scaleTo, toPeriods } from './periods.ts';
import { chart as texts } from './texts.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** The minimum bar height in percent, so that one answer is visible next to a million. */
const LEAST_HEIGHT = 1.5;
/** How far the pointer has to move for a drag, in CSS pixels. */
const DRAG = 5;
/** The most bars whose names are below them, evenly spaced: so many fit on a phone. */
const NAMED = 3;

/** A range of days, YYYY-MM-DD, both included. An empty one is no limit. */
export type Days = readonly [first: string, last: string];

/**
 * A bar chart of the participants or answers per day, or per week, month or year if there are many
 * days. Dragging over bars selects their days. With the keyboard, days are selected in the filter,
 * and the numbers are in a table.
 *
 * @param days not empty
 * @param zone in which the days begin
 * @param selected the days that the filter selects
 */
export function daysChart(
  days: readonly Day[],
  zone: string,
  selected: Days,
  select: (selected: Days) => void,
  signal: AbortSignal,
): HTMLElement {
  const { unit, periods } = toPeriods(days);
  const name = texts[unit];
  const last = periods.length - 1;
  let measure: Measure = 'participants';
  /** The bars that are being selected, and where the pointer went down, in CSS pixels. */
  let pending: readonly [number, number] | undefined;
  let down: { readonly x: number; readonly bar: number } | undefined;

  const caption = html.figcaption({});
  const toggle = (Object.keys(texts.measures) as Measure[]).map((value) => {
    const choose = () => {
      measure = value;
      draw();
    };
    return { value, node: button(texts.measures[value], choose, { className: 'quiet' }) };
  });
  const readout = html.p('note readout', texts.hint);
  const note = html.p('note', texts.sum);
  const upper = html.span('note scale');
  const bars = svg('svg', {
    viewBox: `0 0 ${periods.length} 100`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });
  const places = Array.from({ length: NAMED }, (_, i) => Math.round((i * last) / (NAMED - 1)));
  const named = [...new Set(places)].map((place) =>
    html.span({}, name.of(periods[place]?.start ?? '')),
  );
  const plot = html.div(
    { className: 'plot', role: 'img' },
    upper,
    bars,
    html.div('note range', ...named),
  );
  plot.style.maxWidth = `${6 * periods.length}rem`;

  function draw(): void {
    const counts = periods.map((period) => period[measure]);
    const most = Math.max(...counts);
    const top = scaleTo(most).at(-1) ?? most;
    upper.textContent = texts.most(measure, top);
    const [from, to] = pending ? daysOf(pending) : selected;
    bars.replaceChildren(
      ...periods.map(({ start, end, [measure]: count }, x) => {
        const height = count && Math.max(LEAST_HEIGHT, (100 * count) / top);
        const isOut = (from !== '' && end < from) || (to !== '' && start > to);
        return svg('rect', {
          x: x + 0.1,
          width: 0.8,
          y: 100 - height,
          height,
          class: isOut ? 'bar out' : 'bar',
        });
      }),
    );
    for (const { value, node } of toggle)
      node.setAttribute('aria-pressed', String(value === measure));
    caption.textContent = texts.caption(measure, name.each, zone);
    note.hidden = unit === 'day' || measure === 'responses';
    const [first, end, busiest] = [0, last, counts.indexOf(most)].map((i) =>
      name.of(periods[i]?.start ?? ''),
    );
    plot.setAttribute(
      'aria-label',
      texts.label(measure, name.each, [first, end, busiest].map(String), most),
    );
  }

  const daysOf = ([from, to]: readonly [number, number]): Days => [
    periods[from]?.start ?? '',
    periods[to]?.end ?? '',
  ];

  /** Shows the numbers of a bar, or of those that are being selected, above them. */
  function point(bar: number): void {
    const [from, to] = pending ?? [bar, bar];
    const shown = periods.slice(from, to + 1);
    const sum = (of: Measure) => shown.reduce((total, period) => total + period[of], 0);
    readout.textContent = pending
      ? texts.range(daysOf(pending), sum('responses'))
      : texts.numbers(name.of(shown[0]?.start ?? ''), sum('participants'), sum('responses'));
    for (const [index, node] of [...bars.children].entries())
      node.classList.toggle('current', index === bar);
    readout.style.setProperty('--at', `${(100 * bar) / (last || 1)}%`);
  }
  function finish(): void {
    const chosen = pending;
    pending = down = undefined;
    if (chosen) select(daysOf(chosen));
  }
  function cancel(): void {
    pending = down = undefined;
    draw();
  }

  const barAt = ({ clientX }: PointerEvent) => {
    const { left, width } = bars.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * periods.length)));
  };
  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    down = { x: event.clientX, bar: barAt(event) };
    point(down.bar);
  });
  plot.addEventListener('pointermove', (event) => {
    const bar = barAt(event);
    if (down && (pending || Math.abs(event.clientX - down.x) >= DRAG)) {
      pending = [Math.min(down.bar, bar), Math.max(down.bar, bar)];
      draw();
    }
    point(bar);
  });
  plot.addEventListener('pointerup', finish);
  plot.addEventListener('pointercancel', cancel);
  addEventListener('keydown', ({ key }) => key === 'Escape' && cancel(), { signal });

  draw();
  const buttons = toggle.map(({ node }) => node);
  return html.figure(
    {},
    html.div(
      'title',
      caption,
      html.div({ className: 'toggle', role: 'group', 'aria-label': texts.toggle }, ...buttons),
    ),
    readout,
    plot,
    note,
  );
}

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

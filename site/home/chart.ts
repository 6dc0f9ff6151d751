import { button, html } from '../shared/dom.ts';
import type { Day } from './summaries.ts';
import { type Measure, scaleTo, ticksOf, toPeriods } from './periods.ts';
import { chart as texts } from './texts.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** The minimum bar height in percent, so that one answer is visible next to a million. */
const LEAST_HEIGHT = 1.5;
/** How far the pointer has to move for a drag, in CSS pixels. */
const DRAG = 5;
/** The share of the axis that the name of a month takes, with its year, on a phone. */
const MONTH = 0.08;
const MONTH_ON_PHONE = 0.25;
/** How many bars a key moves. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
  Home: -Infinity,
  End: Infinity,
};

/** A range of days, YYYY-MM-DD, both included. An empty one is no limit. */
export type Days = readonly [first: string, last: string];

export interface Chart {
  readonly element: HTMLElement;
  /** Shows which days the form selects. */
  readonly showDays: (selected: Days) => void;
}

/**
 * A bar chart of the participants or answers per day, or per week, month or year if there are many days. Dragging over bars
 * selects their days, as do the arrow keys with Shift.
 *
 * @param days not empty
 * @param zone in which the days begin
 */
export function daysChart(days: readonly Day[], zone: string, select: (selected: Days) => void): Chart {
  const { unit, periods } = toPeriods(days);
  const name = texts[unit];
  const last = periods.length - 1;
  let measure: Measure = 'participants';
  let selected: Days = ['', ''];
  /** The selection while the pointer or Shift is down. */
  let pending: Days | undefined;
  /** Where the pointer went down, in CSS pixels. */
  let down: number | undefined;
  /** The bar whose numbers are shown, and the one where a selection begins. */
  let current = last;
  let anchor = last;
  /** Whether the current bar is marked, which it is once it has been pointed at. */
  let isMarked = false;

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
  const grid = html.div('grid');
  const bars = svg('svg', { viewBox: `0 0 ${periods.length} 100`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const plot = html.div(
    { className: 'plot', role: 'slider', tabIndex: 0, 'aria-valuemin': '1', 'aria-valuemax': String(periods.length) },
    grid,
    bars,
    axis(),
  );
  plot.style.maxWidth = `${6 * periods.length + 4}rem`;

  /** The months; if there are fewer than two, the first and the last bar. */
  function axis(): HTMLElement {
    const ticks = ticksOf(periods);
    const ends = [periods[0], periods[last]].map((period) => name.of(period?.start ?? ''));
    if (ticks.length < 2) return html.div('range', ...[...new Set(ends)].map((end) => html.span({}, end)));
    // The chart seldom begins with a month.
    const begin = (ticks[0]?.at ?? 0) < MONTH ? [] : [{ at: 0, day: periods[0]?.start ?? '' }];
    const marks = [...begin, ...ticks].map(({ at, day }, i) => {
      const className = at > 0 && at < MONTH_ON_PHONE ? 'tight' : '';
      const mark = html.span(className, at > 1 - MONTH ? '' : texts.tick(day, i === 0));
      mark.style.left = `${100 * at}%`;
      return mark;
    });
    return html.div('ticks', ...marks);
  }

  function draw(): void {
    const counts = periods.map((period) => period[measure]);
    const most = Math.max(...counts);
    const scale = scaleTo(most);
    const top = scale.at(-1) ?? most;
    const [from, to] = pending ?? selected;
    bars.replaceChildren(
      ...periods.map(({ start, end, [measure]: count }, x) => {
        const height = count && Math.max(LEAST_HEIGHT, (100 * count) / top);
        const isOut = (from !== '' && end < from) || (to !== '' && start > to);
        return svg('rect', { x: x + 0.1, width: 0.8, y: 100 - height, height, class: isOut ? 'bar out' : 'bar' });
      }),
    );
    grid.replaceChildren(
      ...scale.map((value) => {
        const line = html.span({}, texts.scale(value));
        line.style.bottom = `${(100 * value) / top}%`;
        return line;
      }),
    );
    for (const { value, node } of toggle) node.setAttribute('aria-pressed', String(value === measure));
    caption.textContent = texts.caption(measure, name.each, zone);
    note.hidden = unit === 'day' || measure === 'responses';
    const [first, end, busiest] = [0, last, counts.indexOf(most)].map((i) => name.of(periods[i]?.start ?? ''));
    plot.setAttribute('aria-label', texts.label(measure, name.each, [first, end, busiest].map(String), most));
    point();
  }

  const describe = () => {
    const { start = '', participants = 0, responses = 0 } = periods[current] ?? {};
    return texts.numbers(name.of(start), participants, responses);
  };
  /** Marks the current bar. */
  function point(): void {
    for (const [index, bar] of [...bars.children].entries())
      bar.classList.toggle('current', isMarked && index === current);
    plot.setAttribute('aria-valuenow', String(current + 1));
    plot.setAttribute('aria-valuetext', describe());
  }
  function pointAt(index: number): void {
    current = Math.min(last, Math.max(0, index));
    isMarked = true;
    readout.textContent = describe();
    point();
  }
  /** Shows a selection from the anchor to the current bar. */
  function extend(): void {
    pending = [periods[Math.min(anchor, current)]?.start ?? '', periods[Math.max(anchor, current)]?.end ?? ''];
    draw();
  }
  function finish(): void {
    const chosen = pending;
    pending = down = undefined;
    if (chosen) select(chosen);
  }
  function cancel(): void {
    pending = down = undefined;
    draw();
  }

  plot.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      cancel();
      select(['', '']);
    }
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    pointAt(current + step);
    if (event.shiftKey) extend();
    else anchor = current;
  });
  plot.addEventListener('keyup', (event) => {
    if (event.key === 'Shift') finish();
  });
  plot.addEventListener('blur', cancel);

  const pointTo = ({ clientX }: PointerEvent) => {
    const { left, width } = bars.getBoundingClientRect();
    pointAt(Math.floor(((clientX - left) / width) * periods.length));
  };
  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    down = event.clientX;
    pointTo(event);
    anchor = current;
  });
  plot.addEventListener('pointermove', (event) => {
    pointTo(event);
    if (pending || (down !== undefined && Math.abs(event.clientX - down) >= DRAG)) extend();
  });
  plot.addEventListener('pointerup', finish);
  plot.addEventListener('pointercancel', cancel);

  draw();
  const buttons = toggle.map(({ node }) => node);
  return {
    element: html.figure(
      {},
      html.div(
        'title',
        caption,
        html.div({ className: 'toggle', role: 'group', 'aria-label': texts.toggle }, ...buttons),
      ),
      readout,
      plot,
      note,
    ),
    showDays(shown) {
      selected = shown;
      draw();
    },
  };
}

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

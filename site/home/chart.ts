import { button, html } from './dom.ts';
import type { Day } from './summaries.ts';
import { type Measure, type Period, scaleTo, toPeriods } from './periods.ts';
import { chart as texts } from './texts.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** The minimum bar height in percent, so that one answer is visible next to a million. */
const MIN_HEIGHT = 1.5;
/** How far the pointer has to move for a drag, in CSS pixels. */
const DRAG = 5;
/** The most bars whose names are below them, evenly spaced: so many fit on a phone. */
const NAMED = 3;

/** A range of days, YYYY-MM-DD, both included. An empty one is no limit. */
export type Days = readonly [first: string, last: string];

/** A range of bars, by number, both included. */
type Bars = readonly [first: number, last: number];

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
  const { each, of } = texts[unit];
  const names = periods.map(({ start }) => of(start));
  const last = periods.length - 1;
  let measure: Measure = 'participants';
  let dragged: Bars | undefined;

  const caption = html.figcaption({});
  const readout = html.p('note readout', texts.hint);
  const note = html.p('note', texts.sum);
  const { plot, scale, bars } = createPlot(names);
  const toggle = measureToggle((chosen) => {
    measure = chosen;
    draw();
  });

  const daysOf = ([from, to]: Bars): Days => [periods[from]?.start ?? '', periods[to]?.end ?? ''];

  function draw(): void {
    const counts = periods.map((period) => period[measure]);
    const most = Math.max(...counts);
    const top = scaleTo(most).at(-1) ?? most;
    const [from, to] = dragged ? daysOf(dragged) : selected;
    const isOut = ({ start, end }: Period) =>
      (from !== '' && end < from) || (to !== '' && start > to);

    bars.replaceChildren(
      ...periods.map((period, x) => barOf(x, (100 * period[measure]) / top, isOut(period))),
    );
    scale.textContent = texts.most(measure, top);
    toggle.show(measure);
    caption.textContent = texts.caption(measure, each, zone);
    note.hidden = unit === 'day' || measure === 'responses';

    const named = [0, last, counts.indexOf(most)].map((bar) => names[bar] ?? '');
    plot.setAttribute('aria-label', texts.label(measure, each, named, most));
  }

  /** Shows the numbers of a bar, or of those that are being selected, above them. */
  function point(bar: number): void {
    const [from, to] = dragged ?? [bar, bar];
    const shown = periods.slice(from, to + 1);
    const sum = (counted: Measure) => shown.reduce((total, period) => total + period[counted], 0);

    readout.textContent = dragged
      ? texts.range(daysOf(dragged), sum('responses'))
      : texts.numbers(names[bar] ?? '', sum('participants'), sum('responses'));
    readout.style.setProperty('--at', `${(100 * bar) / (last || 1)}%`);
    for (const [i, node] of [...bars.children].entries())
      node.classList.toggle('current', i === bar);
  }

  const drag = (range: Bars | undefined) => {
    dragged = range;
    draw();
  };
  const choose = (range: Bars) => {
    dragged = undefined;
    select(daysOf(range));
  };
  followPointer(plot, bars, { count: periods.length, point, drag, choose }, signal);

  draw();
  return html.figure({}, html.div('title', caption, toggle.element), readout, plot, note);
}

/** Buttons to choose what the chart shows. */
function measureToggle(choose: (measure: Measure) => void) {
  const buttons = (Object.keys(texts.measures) as Measure[]).map((measure) => ({
    measure,
    node: button(texts.measures[measure], () => choose(measure), { className: 'quiet' }),
  }));

  return {
    element: html.div(
      { className: 'toggle', role: 'group', 'aria-label': texts.toggle },
      ...buttons.map(({ node }) => node),
    ),
    show(shown: Measure): void {
      for (const { measure, node } of buttons)
        node.setAttribute('aria-pressed', String(measure === shown));
    },
  };
}

/** The plot without its bars. @param names of the bars */
function createPlot(names: readonly string[]) {
  const scale = html.span('note scale');
  const bars = svg('svg', {
    viewBox: `0 0 ${names.length} 100`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });

  const places = Array.from({ length: NAMED }, (_, i) =>
    Math.round((i * (names.length - 1)) / (NAMED - 1)),
  );
  const named = [...new Set(places)].map((place) => html.span({}, names[place]));

  const plot = html.div(
    { className: 'plot', role: 'img' },
    scale,
    bars,
    html.div('note range', ...named),
  );
  plot.style.maxWidth = `${6 * names.length}rem`;
  return { plot, scale, bars };
}

/** @param percent of the chart's height */
function barOf(x: number, percent: number, isOut: boolean): SVGElement {
  const height = percent === 0 ? 0 : Math.max(MIN_HEIGHT, percent);
  return svg('rect', {
    x: x + 0.1,
    width: 0.8,
    y: 100 - height,
    height,
    class: isOut ? 'bar out' : 'bar',
  });
}

interface PointerOptions {
  /** The number of bars. */
  readonly count: number;
  /** Called with the bar at the pointer. */
  readonly point: (bar: number) => void;
  /** Called with the bars that are being selected; undefined when Escape ends that. */
  readonly drag: (range: Bars | undefined) => void;
  /** Called with the bars that have been selected. */
  readonly choose: (range: Bars) => void;
}

/** Follows the pointer over bars. */
function followPointer(
  plot: HTMLElement,
  bars: SVGElement,
  { count, point, drag, choose }: PointerOptions,
  signal: AbortSignal,
): void {
  /** Where the pointer went down, in CSS pixels, and the bars over which it has been dragged. */
  let down: { readonly x: number; readonly bar: number } | undefined;
  let dragged: Bars | undefined;

  const barAt = ({ clientX }: PointerEvent) => {
    const { left, width } = bars.getBoundingClientRect();
    const bar = Math.floor(((clientX - left) / width) * count);
    return Math.min(count - 1, Math.max(0, bar));
  };
  const stop = () => {
    down = undefined;
    dragged = undefined;
  };

  plot.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    down = { x: event.clientX, bar: barAt(event) };
    point(down.bar);
  });

  plot.addEventListener('pointermove', (event) => {
    const bar = barAt(event);
    if (down && (dragged || Math.abs(event.clientX - down.x) >= DRAG)) {
      dragged = [Math.min(down.bar, bar), Math.max(down.bar, bar)];
      drag(dragged);
    }
    point(bar);
  });

  plot.addEventListener('pointerup', () => {
    const chosen = dragged;
    stop();
    if (chosen) choose(chosen);
  });

  const cancel = () => {
    stop();
    drag(undefined);
  };
  plot.addEventListener('pointercancel', cancel);
  addEventListener('keydown', ({ key }) => key === 'Escape' && cancel(), { signal });
}

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

import type { Params } from './api.ts';
import type { Question } from './api-types.ts';
import { button, html, shareBar } from './dom.ts';
import { moveFocusTo } from './lists.ts';
import { loaded } from './loaded.ts';
import { longText } from './long-text.ts';
import { scaleTo } from './periods.ts';
import type { Session } from './session.ts';
import { answered as texts } from './texts.ts';

/** The most that the API lists: with fewer different values, they are all there. */
const TOP = 1000;
/** How many texts are shown at first. */
const TEXTS = 10;
/** The most bars of a histogram. */
const BARS = 20;

/** How often a value was answered. */
interface Count {
  readonly value: string;
  readonly records: number;
}

/** What was answered to a question, as the API describes it. */
interface Answered {
  readonly records: number;
  readonly distinct: number;
  /** The most frequent first. */
  readonly values: readonly Count[];
  /** How many records have other values. */
  readonly other: number;
}

/**
 * What was answered to a question, counted when it is shown: choices and numbers as bars, of texts
 * the most frequent.
 *
 * @param params the selection, with `survey`
 */
export function answeredView(
  { results }: Session,
  params: Params,
  { column, choices }: Pick<Question, 'column' | 'choices'>,
  signal: AbortSignal,
): HTMLElement {
  const wanted = Object.entries({
    missing: '404',
    column,
    value: 'translated_label',
    top: String(TOP),
  });
  const request = () =>
    results.get<{ questions: Answered[] }>('/responses/answers', [...params, ...wanted], signal);

  const render = ({ questions: [found] }: { questions: Answered[] }) => {
    if (!found || found.records === 0) return [html.p('note', texts.none)];
    return [...viewsOf(found, choices), html.p('note', texts.of(found.records))];
  };
  return loaded(request, render, signal).node;
}

function viewsOf(found: Answered, choices: Question['choices']): HTMLElement[] {
  if (choices) return [valuesView(inOrder(found, choices), true)];

  const numbers = found.other > 0 ? undefined : numbersOf(found.values);
  return numbers ? numberViews(numbers, found.records) : [valuesView(found, false)];
}

/** The choices in the order of the question's text, then other values. */
function inOrder(found: Answered, choices: NonNullable<Question['choices']>): Answered {
  const labels = choices.map(({ label }) => label);
  const place = ({ value }: Count) => labels.indexOf(value) + 1 || labels.length + 1;
  return { ...found, values: found.values.toSorted((a, b) => place(a) - place(b)) };
}

/** The values as numbers, in order; undefined if one is not a plain decimal. */
function numbersOf(
  values: readonly Count[],
): readonly [number: number, records: number][] | undefined {
  const given = values.filter(({ value }) => value !== '');
  if (given.length === 0 || !given.every(({ value }) => /^-?\d{1,15}(\.\d+)?$/.test(value)))
    return undefined;
  const pairs = given.map(({ value, records }): [number, number] => [Number(value), records]);
  return pairs.toSorted(([a], [b]) => a - b);
}

function numberViews(
  numbers: readonly [number: number, records: number][],
  all: number,
): HTMLElement[] {
  const count = numbers.reduce((sum, [, records]) => sum + records, 0);
  /** The number after which so many answers come, in order. */
  const numberAt = (position: number) => {
    let seen = 0;
    for (const [number, records] of numbers) {
      seen += records;
      if (seen > position) return number;
    }
    return 0;
  };

  const min = numberAt(0);
  const max = numberAt(count - 1);
  const median = (numberAt((count - 1) / 2) + numberAt(count / 2)) / 2;
  return [html.p({}, texts.numbers(min, median, max)), bars(binsOf(numbers, min, max), all)];
}

/** A bar for each number or, if there are many, for each of up to 20 equal ranges. */
function binsOf(
  numbers: readonly [number: number, records: number][],
  min: number,
  max: number,
): Bar[] {
  if (numbers.length <= BARS)
    return numbers.map(([value, records]) => ({ label: texts.number(value), records }));

  const step = (scaleTo(Math.ceil(max - min))[1] ?? 1) / 5;
  const first = Math.floor(min / step);
  const bins = Array.from({ length: Math.floor(max / step) - first + 1 }, (_, i) => ({
    label: texts.range((first + i) * step, (first + i + 1) * step),
    records: 0,
  }));

  for (const [value, records] of numbers) {
    const bin = bins[Math.floor(value / step) - first];
    if (bin) bin.records += records;
  }
  return bins;
}

/** Texts that occur once may tell who wrote them: they are shown only when they are asked for. */
function valuesView(
  { values, records, distinct, other }: Answered,
  areChoices: boolean,
): HTMLElement {
  const shown = areChoices ? values : values.filter((value) => value.records > 1).slice(0, TEXTS);
  const hidden = values.slice(shown.length);
  const box = html.div({}, shown.length > 0 ? bars(shown.map(barOf), records) : undefined);
  if (distinct === shown.length) return box;

  const rest = html.p('note', texts.others(distinct - shown.length));
  const show = () => {
    const all = bars(hidden.map(barOf), records);
    rest.textContent = other > 0 ? texts.others(distinct - values.length) : '';
    toggle.replaceWith(all);
    moveFocusTo(all);
  };
  const toggle = button(texts.show, show, { className: 'quiet' });
  box.append(rest, toggle);
  return box;
}

interface Bar {
  readonly label: string | HTMLElement;
  readonly records: number;
}

const barOf = ({ value, records }: Count): Bar => ({
  label: value === '' ? texts.empty : longText(value),
  records,
});

/** @param all the number of answers that is 100 % */
function bars(list: readonly Bar[], all: number): HTMLElement {
  const row = ({ label, records }: Bar) =>
    html.tr(
      {},
      html.td({}, label),
      html.td({}, shareBar(records / all)),
      html.td({}, html.span('note', texts.share(records, records / all))),
    );
  return html.table('answered', html.tbody({}, ...list.map(row)));
}

import { button, html } from '../dom.ts';
import { moveFocusTo } from '../lists.ts';
import { loaded } from '../loaded.ts';
import { longText } from '../long-text.ts';
import { results as texts } from '../texts.ts';
import type { Answered, Value } from './answers.ts';
import { barList } from './bars.ts';
import { type Drawing, areNumbers, countIn, sideBySide } from './parts.ts';

/** How many texts are shown at first. */
const TEXTS = 10;

/**
 * The choices of a question, and its most frequent other answers, as bars. Those that only one
 * record has may tell who wrote them: they are shown only on request.
 */
export function valuesView(drawing: Drawing): HTMLElement {
  const { answered, choices, beside } = drawing;
  const labels = new Set(choices?.map(({ label }) => label));
  const others = ({ values }: Answered) => values.filter(({ value }) => !labels.has(value));
  const order = beside[0]?.values.map(({ value }) => value) ?? [];
  const place = ({ value }: Value) => order.indexOf(value) >>> 0; // -1 becomes the last
  const frequent = others(answered)
    .filter(({ records }) => records > 1)
    .toSorted((a, b) => place(a) - place(b));

  return valueBars(drawing, [...choicesIn(answered, labels), ...frequent.slice(0, TEXTS)], {
    rest({ distinct, records }, shown) {
      const count = distinct - shown.filter((value) => value.records > 0).length;
      const inShown = shown.reduce((sum, value) => sum + value.records, 0);
      return count > 0 ? texts.hidden(count, records - inShown) : '';
    },
    all: (counted) => [...choicesIn(counted, labels), ...others(counted)],
  });
}

/** The choices in the order of the question's text, also those that nobody chose. */
function choicesIn({ values, other }: Answered, labels: ReadonlySet<string>): Value[] {
  const unchosen = (value: string) => (other > 0 ? [] : [{ value, records: 0 }]);
  return [...labels].flatMap(
    (label) => values.find(({ value }) => value === label) ?? unchosen(label),
  );
}

/** What is shown only on request. */
interface Hidden {
  /** Says how much is not shown; empty if all is. */
  readonly rest: (counted: Answered, shown: readonly Value[]) => string;
  /** All values, once all are counted. */
  readonly all: (counted: Answered) => readonly Value[];
}

/** Values as bars, and the others on request. */
export function valueBars(
  drawing: Drawing,
  values: readonly Value[],
  hidden: Hidden,
  isRequested = false,
): HTMLElement {
  const { answered, choices, getAll, signal } = drawing;
  const bars = sideBySide(
    drawing,
    (part) => values.map((value) => countIn(part, value)),
    (counts, all, most) => {
      const list = values.map(({ value }, i) => ({
        label: value === '' ? texts.empty : longText(value),
        records: counts[i] ?? 0,
      }));
      return barList(list, all, most);
    },
  );

  const note = hidden.rest(answered, values);
  const isBeside = values.length === 0 && areNumbers(answered, choices);
  const box = html.div({}, isBeside ? undefined : bars, html.p('note', note));
  if (note === '' || isRequested) return box;

  const render = (counted = answered) => {
    const all = valueBars({ ...drawing, answered: counted }, hidden.all(counted), hidden, true);
    box.replaceWith(all);
    moveFocusTo(all);
    return [];
  };
  const toggle = button(texts.show, () => toggle.replaceWith(loaded(getAll, render, signal).node), {
    className: 'quiet',
  });
  box.append(toggle);
  return box;
}

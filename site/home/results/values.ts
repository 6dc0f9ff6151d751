import { button, html } from '../dom.ts';
import type { Question } from '../api-types.ts';
import { moveFocusTo } from '../lists.ts';
import { loaded } from '../loaded.ts';
import { longText } from '../long-text.ts';
import { results as texts } from '../texts.ts';
import { type AnsweredOptions, countIn, largestShare, sideBySide } from './answered.ts';
import type { Answered, Value } from './answers.ts';
import { barList } from './bars.ts';

/** How many texts are shown at first. */
const TEXTS = 10;

const recordsOf = (values: readonly Value[]) =>
  values.reduce((sum, { records }) => sum + records, 0);

/**
 * The choices of a question, and its most frequent other answers. Those that only one record has
 * may tell who wrote them: they are shown only on request.
 */
export function valuesView(options: AnsweredOptions): HTMLElement {
  const { answered, choices } = options;
  const listed = choicesIn(answered, choices);
  const names = new Set(listed.map(({ value }) => value));
  const isOther = ({ value }: Value) => !names.has(value);
  const frequent = answered.values.filter((value) => isOther(value) && value.records > 1);

  return valueBars(options, [...listed, ...frequent.slice(0, TEXTS)], {
    rest(counted, shown) {
      const distinct = counted.distinct - shown.filter(({ records }) => records > 0).length;
      return distinct > 0 && texts.hidden(distinct, counted.records - recordsOf(shown));
    },
    all: (counted) => [...choicesIn(counted, choices), ...counted.values.filter(isOther)],
  });
}

/** The choices in the order of the question's text, also those that nobody chose. */
function choicesIn({ values, other, groups }: Answered, choices: Question['choices']): Value[] {
  const labels = new Set(choices?.map(({ label }) => label));
  const unchosen = (value: string) =>
    other > 0 ? [] : [{ value, records: 0, groups: groups?.map(() => 0) }];
  return [...labels].flatMap(
    (label) => values.find(({ value }) => value === label) ?? unchosen(label),
  );
}

/** What is shown only on request. */
interface Hidden {
  /** Says how much is not shown; false if all is. */
  readonly rest: (counted: Answered, shown: readonly Value[]) => string | false;
  /** All values, once all are counted. */
  readonly all: (counted: Answered) => readonly Value[];
}

/** Values as bars, and the others on request. */
export function valueBars(
  options: AnsweredOptions,
  values: readonly Value[],
  { rest, all }: Hidden,
  isRequested = false,
): HTMLElement {
  const { answered, getAll, signal } = options;
  const most = largestShare(options, (part) => values.map((value) => countIn(part, value)));
  const bars = sideBySide(options, (part, records) => {
    const list = values.map((value) => ({
      label: value.value === '' ? texts.empty : longText(value.value),
      records: countIn(part, value),
    }));
    return barList(list, records, most);
  });

  const box = html.div({}, values.length > 0 ? bars : undefined);
  const note = rest(answered, values);
  if (note === false) return box;

  const show = () => {
    const render = (counted: Answered | undefined) => {
      if (!counted) return [texts.none];
      const view = valueBars({ ...options, answered: counted }, all(counted), { rest, all }, true);
      box.replaceWith(view);
      moveFocusTo(view);
      return [];
    };
    toggle.replaceWith(loaded(getAll, render, signal).node);
  };
  const toggle = button(texts.show, show, { className: 'quiet', hidden: isRequested });
  box.append(html.p('note', note), toggle);
  return box;
}

import { html } from './dom.ts';
import { option } from './controls.ts';
import { cut } from './long-text.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { andMore, choices as texts } from './texts.ts';

/** A value that can be chosen. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly note?: string;
}

interface ChoiceListOptions {
  /** Of the values in the form's data. */
  readonly name: string;
  readonly label: string;
  /** The text while nothing is chosen. */
  readonly none: string;
  readonly note?: string;
  /** The values that are chosen at first. */
  readonly chosen: readonly string[];
  readonly load: () => Promise<Choice[]>;
  readonly signal: AbortSignal;
}

/** A list from which several values can be chosen. It is loaded when it is opened. */
export function choiceList({
  name,
  label,
  none,
  note,
  chosen,
  load,
  signal,
}: ChoiceListOptions): HTMLElement {
  const values = new Set(chosen);
  const labels = new Map<string, string>();
  const state = html.span('note');
  const data = html.span({});

  const showState = () => {
    const named = [...values].slice(0, 3).map((value) => cut(labels.get(value) ?? value, 60, 1));
    state.textContent = named.join(', ') + andMore(values.size - 3) || none;
    data.replaceChildren(
      ...[...values].map((value) => html.input({ type: 'hidden', name, value })),
    );
  };

  const choiceRow = ({ value, label: text, note: about }: Choice) => {
    const box = html.input({ type: 'checkbox', checked: values.has(value) });
    // Before the form's own listener for this event, which reads the values.
    box.addEventListener('input', () => {
      if (box.checked) values.add(value);
      else values.delete(value);
      showState();
    });
    return option(box, text, about);
  };

  const show = (offered: readonly Choice[]) => {
    for (const choice of offered) labels.set(choice.value, choice.label);
    showState();
    // Values from a link that no longer occur stay listed, so that they can be removed.
    const others = [...values]
      .filter((value) => !labels.has(value))
      .map((value) => ({ value, label: value }));
    const items = [...others, ...offered];
    if (items.length === 0) return [texts.empty];

    return searchableList({
      items,
      row: choiceRow,
      list: html.div({ className: 'choices', role: 'group', 'aria-label': label }),
      words: ({ value, label: text, note: about }: Choice) => `${value} ${text} ${about}`,
      texts: { label: texts.search(label), count: texts.count },
    });
  };

  const row = html.details(
    {},
    html.summary({}, `${label}: `, state, data),
    note === undefined ? undefined : html.p('note', note),
  );
  row.addEventListener('toggle', () => row.append(loaded(load, show, signal).node), { once: true });
  showState();
  return row;
}

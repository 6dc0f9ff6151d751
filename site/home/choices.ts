import { element } from '../shared/dom.ts';
import { explain } from './api.ts';
import { choices as texts, page } from './texts.ts';

/** The most values shown at once. */
const MOST = 50;
/** A list of this many values or more has a search field. */
const SEARCHED = 10;

/** A value that can be chosen. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly note?: string;
}

interface ChoiceListOptions {
  readonly label: string;
  /** The text while nothing is chosen. */
  readonly none: string;
  readonly note?: string;
  /** At the beginning. */
  readonly chosen: readonly string[];
  readonly load: () => Promise<Choice[]>;
}

interface ChoiceList {
  readonly row: HTMLElement;
  /** Those that are chosen. */
  readonly values: () => string[];
}

/** A list from which several values can be chosen. It is loaded when it is opened. */
export function choiceList({ label, none, note, chosen, load }: ChoiceListOptions): ChoiceList {
  const values = new Set(chosen);
  let all: Choice[] = [];
  const state = element('span', { className: 'note' });
  const search = element('input', {
    type: 'search',
    'aria-label': texts.search(label),
    placeholder: texts.search(label),
  });
  search.hidden = true;
  const list = element('div', { className: 'choices', role: 'group', 'aria-label': label });
  const found = element('p', { className: 'note', role: 'status' });
  const row = element(
    'details',
    { className: 'field' },
    element('summary', {}, `${label}: `, state),
    note === undefined ? undefined : element('p', { className: 'note' }, note),
    search,
    list,
    found,
  );

  const showState = () =>
    (state.textContent =
      values.size === 0
        ? none
        : [...values].slice(0, 3).join(', ') + (values.size > 3 ? texts.others(values.size - 3) : ''));
  const show = () => {
    const words = search.value.toLowerCase();
    const matching = all.filter(({ value, label: text, note: more = '' }) =>
      `${value} ${text} ${more}`.toLowerCase().includes(words),
    );
    const shown = matching.slice(0, MOST);
    list.replaceChildren(...shown.map((choice) => checkBox(choice)));
    found.textContent = matching.length > shown.length ? texts.found(shown.length, matching.length) : '';
  };
  const checkBox = ({ value, label: text, note: more }: Choice) => {
    const box = element('input', { type: 'checkbox', checked: values.has(value) });
    // Before the form's own listener for this event, which reads the values.
    box.addEventListener('input', () => {
      if (box.checked) values.add(value);
      else values.delete(value);
      showState();
    });
    return element(
      'label',
      { className: 'choice' },
      box,
      element(
        'span',
        {},
        element('bdi', {}, text),
        ' ',
        more ? element('bdi', { className: 'note' }, more) : undefined,
      ),
    );
  };
  const open = async () => {
    if (!row.open || all.length > 0) return;
    found.textContent = page.loading;
    try {
      const loaded = await load();
      const known = new Set(loaded.map(({ value }) => value));
      // Values from a link that no longer occur stay listed, so that they can be removed.
      all = [...[...values].filter((value) => !known.has(value)).map((value) => ({ value, label: value })), ...loaded];
      search.hidden = all.length <= SEARCHED;
      show();
      if (all.length === 0) found.textContent = texts.empty;
    } catch (error) {
      found.textContent = explain(error);
    }
  };
  row.addEventListener('toggle', () => void open());
  search.addEventListener('input', (event) => {
    event.stopPropagation();
    show();
  });
  showState();
  return { row, values: () => [...values] };
}

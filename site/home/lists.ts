import { button, html } from './dom.ts';
import { field } from './controls.ts';
import { lists as texts } from './texts.ts';

const STEP = 50;
/** Shorter lists have no search field. */
export const SEARCHABLE = 10;

/**
 * Shows the first items of a list, and then more with every click on a button.
 *
 * @param row creates or finds an item's row
 * @param list gets the rows
 * @param memory keeps how many rows are shown; at least so many are shown at first
 * @returns the button, to place after the list
 */
export function firstRows<T>(
  items: readonly T[],
  row: (item: T) => HTMLElement,
  list: HTMLElement,
  memory = { shown: 0 },
): HTMLButtonElement {
  let shown = 0;
  const show = (count: number) => {
    const rows = items.slice(shown, shown + count).map(row);
    list.append(...rows);
    shown += rows.length;
    memory.shown = shown;

    showMore.textContent = texts.more(shown, items.length);
    showMore.hidden = shown === items.length;
    return rows[0];
  };
  const showMore = button('', () => moveFocusTo(show(STEP)));

  show(Math.max(memory.shown, STEP));
  return showMore;
}

/** Moves the focus from a button to what it has added, without scrolling. */
export function moveFocusTo(node: HTMLElement | undefined): void {
  node?.setAttribute('tabindex', '-1');
  node?.focus({ preventScroll: true });
}

interface SearchableListOptions<T> {
  readonly items: readonly T[];
  /** Creates or finds an item's row. */
  readonly row: (item: T) => HTMLElement;
  /** Gets the rows. */
  readonly list: HTMLElement;
  /** The text that is searched. */
  readonly words: (item: T) => string;
  readonly texts: { readonly label: string; readonly count: (count: number) => string };
  /** Another field, beside the search field. */
  readonly beside?: HTMLElement;
  /** Keeps the query, and how many rows are shown, for the next list. */
  readonly memory?: { query: string; shown: number };
}

/** A list with a search field, if it is long. */
export function searchableList<T>(options: SearchableListOptions<T>): HTMLElement[] {
  const { items, row, list, words, texts: own, beside, memory = { query: '', shown: 0 } } = options;
  if (items.length <= SEARCHABLE) return [list, firstRows(items, row, list, memory)];
  const input = html.input({
    type: 'search',
    autocomplete: 'off',
    spellcheck: false,
    value: memory.query,
  });
  const found = html.p({ className: 'note', role: 'status' });
  const below = html.div({});
  const matches = matcher(items, words);

  const search = () => {
    memory.query = input.value;
    const matching = matches(input.value);
    found.textContent = input.value.trim()
      ? texts.found(matching.length, own.count(items.length))
      : own.count(items.length);
    list.replaceChildren();
    below.replaceChildren(firstRows(matching, row, list, memory));
  };
  input.addEventListener('input', (event) => {
    event.stopPropagation(); // in a form, a search changes nothing that is selected
    memory.shown = 0;
    search();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault(); // nor does it send the form
  });
  search();
  return [html.div('fields', field(own.label, input), beside), found, list, below];
}

/**
 * Finds items whose words contain those of a query.
 *
 * @param words the text that is searched
 */
export function matcher<T>(items: readonly T[], words: (item: T) => string) {
  const folded = items.map((item) => fold(words(item)));
  return (query: string): T[] => {
    const wanted = fold(query).split(/\s+/u);
    return items.filter((_, i) => wanted.every((word) => folded[i]?.includes(word)));
  };
}

/** Without case and accents. */
const fold = (text: string) =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();

import { element } from '../shared/dom.mjs';
import { lists as texts } from './texts.mjs';

const STEP = 50;
/** Shorter lists have no search field. */
const SEARCHABLE = 10;

/**
 * Shows the first items of a list, and then more with every click on a button.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => HTMLElement} row creates or finds an item's row
 * @param {HTMLElement} list gets the rows
 * @returns {HTMLButtonElement} to place after the list
 */
export function firstRows(items, row, list) {
  const button = element('button', { type: 'button' });
  let shown = 0;
  const show = () => {
    const rows = items.slice(shown, shown + STEP).map(row);
    shown += rows.length;
    list.append(...rows);
    button.textContent = texts.more(shown, items.length);
    button.hidden = shown === items.length;
    return rows[0];
  };
  button.addEventListener('click', () => focus(show()));
  show();
  return button;
}

/**
 * Moves the focus from a button to what it has added, without scrolling.
 *
 * @param {HTMLElement | null | undefined} node
 */
export function focus(node) {
  node?.setAttribute('tabindex', '-1');
  node?.focus({ preventScroll: true });
}

/**
 * A list with a search field, if it is long.
 *
 * @template T
 * @param {object} options
 * @param {readonly T[]} options.items
 * @param {(item: T) => HTMLElement} options.row creates or finds an item's row
 * @param {HTMLElement} options.list gets the rows
 * @param {HTMLElement} [options.frame] contains the list, if it is part of a table
 * @param {(item: T) => string} options.words the text that is searched
 * @param {{ label: string, count: (count: number) => string }} options.texts
 * @param {{ query: string }} [options.memory] keeps the query for the next list
 * @returns {(Node | undefined)[]}
 */
export function searchableList({ items, row, list, frame = list, words, texts: own, memory = { query: '' } }) {
  if (items.length <= SEARCHABLE) return [frame, firstRows(items, row, list)];
  const field = element('input', { type: 'search', autocomplete: 'off', spellcheck: false, value: memory.query });
  const found = element('p', { className: 'note', role: 'status' });
  const more = element('div', {});
  const folded = items.map((item) => fold(words(item)));

  const search = () => {
    memory.query = field.value;
    const wanted = fold(field.value).split(/\s+/u);
    const matches = items.filter((_, i) => wanted.every((word) => folded[i]?.includes(word)));
    found.textContent = field.value.trim()
      ? texts.found(matches.length, own.count(items.length))
      : own.count(items.length);
    list.replaceChildren();
    more.replaceChildren(firstRows(matches, row, list));
    frame.hidden = matches.length === 0;
  };
  field.addEventListener('input', search);
  search();
  return [element('label', { className: 'search' }, own.label, field), found, frame, more];
}

/** Without case and accents. @param {string} text */
const fold = (text) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();

import { html } from '../dom.ts';
import { number, results as texts } from '../texts.ts';

/** What a bar shows. */
export interface Bar {
  readonly label: string | HTMLElement;
  readonly records: number;
}

/** An upright bar. */
export interface Column {
  /** What it is, and its numbers: for screen readers, the pointer and the clipboard. */
  readonly cells: readonly (string | HTMLElement)[];
  /** From 0 to 1. */
  readonly height: number;
  /** Where a click leads. */
  readonly href?: string;
  readonly className?: string;
}

/** The most names below upright bars: so many days fit on a phone. */
const NAMED = 4;

/** The numbers of a bar. @param all the number of records that is 100 % */
export const cellsOf = ({ label, records }: Bar, all: number) => [
  label,
  number(records),
  texts.share(records / all),
];

/** The least share that a bar as long as its list shows: that of rare texts is short. */
const LEAST = 0.1;

/** Sets the length of a bar. @param share from 0 to 1; if it is not 0, the bar is visible */
export function setShare<T extends HTMLElement>(bar: T, share: number, name = 'share'): T {
  bar.style.setProperty(`--${name}`, `${share && Math.max(1, 100 * share)}%`);
  return bar;
}

const cellNodes = (cells: Column['cells']) => cells.map((cell) => html.div('cell', cell));

/**
 * Bars, each below its label and its numbers.
 *
 * @param all the number of records that is 100 %
 * @param most the share of the longest bar
 */
export const barList = (bars: readonly Bar[], all: number, most: number): HTMLElement =>
  html.ul(
    'bars',
    ...bars.map((bar) =>
      html.li(
        'row',
        ...cellNodes(cellsOf(bar, all)),
        setShare(html.div('share'), bar.records / all / Math.max(most, LEAST)),
      ),
    ),
  );

/** Upright bars side by side. @param names of all; a few are below the bars */
export function histogram(columns: readonly Column[], names: readonly string[], className = '') {
  const every = Math.ceil(names.length / NAMED);
  const bars = columns.map(({ cells, height, href, className: own = '' }) => {
    const about = html.div('about', ...cellNodes(cells));
    const content = href === undefined ? about : html.a({ href, tabIndex: -1 }, about);
    return setShare(html.li(`row ${own}`, content), height);
  });
  const axis = names.map((name, i) => html.span({}, i % every === 0 ? name : ''));

  return html.div(
    `histogram ${className}`,
    html.ul({}, ...bars),
    html.div({ className: 'axis note', 'aria-hidden': 'true' }, ...axis),
  );
}

/**
 * The bars that a node shows, as rows of a table for the clipboard. Spreadsheets do not take what
 * participants wrote for a formula.
 */
export function tableText(node: HTMLElement): string {
  const textOf = (cell: Element) => {
    const text = (cell.querySelector('.text') ?? cell).textContent;
    const safe = /^([=+@\t\r]|-(?!\d))/.test(text) ? `'${text}` : text;
    return /[\t\n\r"]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const rows = Array.from(node.querySelectorAll('.row'), (row) =>
    Array.from(row.querySelectorAll('.cell'), textOf).join('\t'),
  );
  return rows.join('\n');
}

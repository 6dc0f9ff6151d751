import { html, shareBar } from '../dom.ts';
import { number, results as texts } from '../texts.ts';

/** What a bar shows. */
export interface Bar {
  readonly label: string | HTMLElement;
  readonly records: number;
}

/** The cells of a bar, in the order in which {@link tableText} copies them. */
const cells = ({ label, records }: Bar, all: number) => [
  html.div('cell', label),
  html.span('cell', number(records)),
  html.span('cell note', texts.share(records / all)),
];

/**
 * Bars, each below its label and its numbers.
 *
 * @param all the number of records that is 100 %
 * @param most the share of the longest bar
 */
export const barList = (list: readonly Bar[], all: number, most: number): HTMLElement =>
  html.ul(
    'bars',
    ...list.map((bar) =>
      html.li('row', ...cells(bar, all), shareBar(most && bar.records / all / most)),
    ),
  );

/** The most labels below a histogram. */
const LABELS = 6;

/**
 * Upright bars side by side. The label and the numbers of a bar are for screen readers, and for the
 * pointer.
 *
 * @param all and most as in {@link barList}
 * @param starts where each bar begins
 * @param isPoint whether each bar is one number, rather than those from one start to the next
 */
export function histogram(
  list: readonly (Bar & { readonly label: string })[],
  all: number,
  most: number,
  starts: readonly string[],
  isPoint: boolean,
): HTMLElement {
  const every = Math.ceil(starts.length / LABELS);
  const columns = list.map((bar) => {
    const node = html.li('row', html.div('about', ...cells(bar, all)));
    node.style.setProperty('--share', `${most && (100 * bar.records) / all / most}%`);
    return node;
  });
  const axis = starts.map((start, i) => html.span({}, i % every === 0 ? start : ''));

  return html.div(
    isPoint ? 'histogram points' : 'histogram',
    html.ul({}, ...columns),
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

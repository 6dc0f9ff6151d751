import { cellsOf, recordsOf } from '../shared/csv.ts';
import { button, html, table } from './dom.ts';
import { explain } from './api.ts';
import { cut } from './long-text.ts';
import { changed, downloadRequestOf, hrefOf } from './selection.ts';
import type { Session } from './session.ts';
import { page, preview as texts } from './texts.ts';

const ROWS = 20;
/** More columns are counted, but not shown. */
const COLUMNS = 100;
const CELL_LENGTH = 80;
/** Columns that few people read. */
const TECHNICAL = new Set(
  'parent_surveyid parent_shortcode surveyid flowid attempts question_idx metadata pageid ad_id'.split(
    ' ',
  ),
);

interface Preview {
  readonly button: HTMLButtonElement;
  readonly element: HTMLElement;
  /** Removes the rows of an earlier selection. */
  readonly clear: () => void;
}

/**
 * Shows the first rows of the file that a selection describes.
 *
 * @param selection reads the current one
 */
export function previewView(
  { api }: Session,
  selection: () => URLSearchParams,
  signal: AbortSignal,
): Preview {
  let loading = new AbortController();
  const state = html.p({ className: 'state', role: 'status' });
  const content = html.div({});
  const clear = () => {
    loading.abort();
    state.textContent = '';
    content.replaceChildren();
  };

  const show = async () => {
    clear();
    loading = new AbortController();
    const current = AbortSignal.any([loading.signal, signal]);
    state.textContent = page.loading;
    try {
      const { path, params } = downloadRequestOf(selection());
      // The table of a workbook is that of the CSV file.
      const response = await api.open(path.replace(/xlsx$/, 'csv'), params, current);
      const { records, isWhole } = await firstRecords(response);
      current.throwIfAborted();

      const [header = [], ...rows] = records;
      const shown = shownColumns(header);
      state.textContent = texts.found(rows.length, isWhole, header.length, shown.length);
      content.replaceChildren(frameOf(header, rows, shown, selection()));
    } catch (error) {
      if (!current.aborted) state.textContent = `${texts.show}: ${explain(error)}`;
    }
  };

  return { button: button(texts.show, show), element: html.div('preview', state, content), clear };
}

/**
 * Reads the header and the first rows of a CSV file, then cancels it, so that the service stops.
 */
async function firstRecords({ body }: Response): Promise<{ records: Cells[]; isWhole: boolean }> {
  const decoder = new TextDecoder();
  const records: Cells[] = [];
  for await (const batch of recordsOf(body as ReadableStream<Uint8Array<ArrayBuffer>>)) {
    records.push(...batch.slice(0, ROWS + 2).map((record) => cellsOf(decoder.decode(record))));
    if (records.length > ROWS + 1) return { records: records.slice(0, ROWS + 1), isWhole: false };
  }
  return { records, isWhole: true };
}

type Cells = readonly (string | null)[];

/** The numbers of the columns to show, the participants first. */
function shownColumns(header: Cells): number[] {
  const isShown = (i: number) => !TECHNICAL.has(header[i] ?? '');
  const columns = header.map((_, i) => i).filter(isShown);
  const userid = header.indexOf('userid');
  const others = columns.filter((i) => i !== userid);
  return [...columns.filter((i) => i === userid), ...others].slice(0, COLUMNS);
}

/**
 * A table that scrolls beside the participants, who are links to their answers. It must be reachable
 * with the keyboard.
 */
function frameOf(
  header: Cells,
  rows: readonly Cells[],
  shown: readonly number[],
  selection: URLSearchParams,
): HTMLElement {
  const short = (row: Cells, i: number) => cut(row[i] ?? '', CELL_LENGTH, 1);
  const cell = (row: Cells, i: number) => {
    const text = html.bdi({}, short(row, i));
    if (header[i] !== 'userid') return text;

    const answers = changed(selection, { view: ['answers'], userid: [row[i] ?? ''] });
    return html.a({ href: hrefOf(answers) }, text);
  };
  const body = rows.map((row) => html.tr({}, ...shown.map((i) => html.td({}, cell(row, i)))));
  const names = shown.map((i) => short(header, i));

  return html.div(
    { className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': texts.label },
    table(names, body),
  );
}

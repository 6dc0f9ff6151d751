import { cellsOf, recordsOf } from '../shared/csv.ts';
import { button, html, table } from '../shared/dom.ts';
import { type Api, explain } from './api.ts';
import { cut } from './long-text.ts';
import { downloadRequestOf } from './selection.ts';
import { preview as texts } from './texts.ts';

const ROWS = 20;
/** More columns are counted, but not shown. */
const COLUMNS = 100;
const CELL_LENGTH = 80;

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
export function previewView(api: Api, selection: () => URLSearchParams, signal: AbortSignal): Preview {
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
    state.textContent = texts.loading;
    try {
      const { path, params } = downloadRequestOf(selection());
      // The table of a workbook is that of the CSV file.
      const response = await api.open(path.replace(/xlsx$/, 'csv'), params, current);
      const { records, isWhole } = await firstRecords(response);
      current.throwIfAborted();
      const [header = [], ...rows] = records;
      state.textContent = `${texts.found(rows.length, isWhole, header.length)} ${texts.cut(COLUMNS, header.length)}`;
      content.replaceChildren(rowsView(header, rows));
    } catch (error) {
      if (!current.aborted) state.textContent = `${texts.show}: ${explain(error)}`;
    }
  };
  return { button: button(texts.show, show), element: html.div('preview', state, content), clear };
}

/** Reads the header and the first rows of a CSV file, then cancels it, so that the service stops. */
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

/** It scrolls, so it must be reachable with the keyboard. */
function rowsView(header: Cells, rows: readonly Cells[]): HTMLElement {
  const short = (cell: string | null) => cut(cell ?? '', CELL_LENGTH, 1);
  const cellOf = (cell: string | null) => html.td({}, html.bdi({}, short(cell)));
  const body = rows.map((row) => html.tr({}, ...row.slice(0, COLUMNS).map(cellOf)));
  return html.div(
    { className: 'scroll', tabIndex: 0, role: 'group', 'aria-label': texts.label },
    table(header.slice(0, COLUMNS).map(short), html.tbody({}, ...body)),
  );
}

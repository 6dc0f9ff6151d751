import { cellsOf, recordsOf } from '../shared/csv.ts';
import { button, html, table } from './dom.ts';
import { explain } from './api.ts';
import { option } from './controls.ts';
import { cut } from './long-text.ts';
import { countedOf, downloadRequestOf, isWide, zoneOf } from './selection.ts';
import type { Session } from './session.ts';
import { preview as texts } from './texts.ts';

const ROWS = 20;
/** More columns are counted, but not shown. */
const COLUMNS = 100;
const CELL_LENGTH = 80;
/** Columns that few people read. They are shown on request. */
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
  { api, summaries }: Session,
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
    state.textContent = texts.loading;
    try {
      const { path, params } = downloadRequestOf(selection());
      // The table of a workbook is that of the CSV file.
      const response = await api.open(path.replace(/xlsx$/, 'csv'), params, current);
      const { records, isWhole } = await firstRecords(response);
      current.throwIfAborted();
      const [header = [], ...rows] = records;
      const all = isWhole ? rows.length : rowsOf(selection());
      state.textContent = `${texts.found(rows.length, all, header.length)} ${texts.cut(COLUMNS, header.length)}`;
      content.replaceChildren(
        ...rowsView(header, rows, new URLSearchParams(params).has('numbers', 'true')),
      );
    } catch (error) {
      if (!current.aborted) state.textContent = `${texts.show}: ${explain(error)}`;
    }
  };
  /**
   * The number of rows of the file; undefined for a wide one, in which a participant can have
   * several.
   */
  const rowsOf = (chosen: URLSearchParams) =>
    isWide(chosen) ? undefined : summaries.known(countedOf(chosen), zoneOf(chosen))?.responses;
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

/**
 * A table that scrolls beside the participants. It must be reachable with the keyboard. @param
 * hasNumbers whether numbers are cells with numbers
 */
function rowsView(header: Cells, rows: readonly Cells[], hasNumbers: boolean): HTMLElement[] {
  const short = (cell: string | null) => cut(cell ?? '', CELL_LENGTH, 1);
  const places = header.map((_, i) => i).slice(0, COLUMNS);
  const isTechnical = (i: number) => TECHNICAL.has(header[i] ?? '');
  const hidden = places.filter(isTechnical);
  const userid = header.indexOf('userid');
  const frame = html.div({
    className: 'scroll',
    tabIndex: 0,
    role: 'group',
    'aria-label': texts.label,
  });
  const show = (shown: readonly number[]) => {
    const order = [userid, ...shown.filter((i) => i !== userid)].filter((i) => i >= 0);
    const isNumber = header.map(
      (_, i) => hasNumbers && rows.every((row) => /^(-?\d{1,15}(\.\d+)?)?$/.test(row[i] ?? '')),
    );
    const cellOf = (row: Cells) => (i: number) =>
      html.td(isNumber[i] && i !== userid ? 'number' : '', html.bdi({}, short(row[i] ?? null)));
    const body = rows.map((row) => html.tr({}, ...order.map(cellOf(row))));
    frame.replaceChildren(
      table(
        order.map((i) => short(header[i] ?? null)),
        html.tbody({}, ...body),
      ),
    );
  };
  show(places.filter((i) => !isTechnical(i)));
  if (hidden.length === 0) return [frame];
  const box = html.input({ type: 'checkbox' });
  box.addEventListener('input', (event) => {
    event.stopPropagation();
    show(box.checked ? places : places.filter((i) => !isTechnical(i)));
  });
  return [option(box, texts.technical(hidden.length)), frame];
}

import { html } from '../shared/dom.ts';
import { explain, pause } from './api.ts';
import { type Choice, choiceList } from './choices.ts';
import { field, option, radios, select } from './controls.ts';
import type { Days } from './chart.ts';
import { dateField } from './dates.ts';
import { DEFAULTS } from './link.ts';
import { metadataKeys, questionsOf, formsOf } from './offers.ts';
import { previewView } from './preview.ts';
import { FORMATS, countedOf, downloadRequestOf, formatOf, isWide, updateRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { form as texts, options } from './texts.ts';
import { updateView } from './update/view.ts';

/** The delay after the last change before responses are counted. */
const REST_MS = 400;

interface DownloadForm {
  readonly element: HTMLElement;
  readonly selectDays: (days: Days) => void;
}

/**
 * The form to choose what is downloaded.
 *
 * @param selection shown at first, with `survey`
 * @param onChange called with the selection and its days, first with the initial ones
 */
export function downloadForm(
  { api, summaries, downloads }: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
  onChange: (selection: URLSearchParams, days: Days) => void,
): DownloadForm {
  const survey = selection.get('survey') as string;
  const since = dateField('since', texts.since, selection.get('since'), false);
  const until = dateField('until', texts.until, selection.get('until'), true);
  const list = (name: keyof typeof texts.lists, load: () => Promise<Choice[]>) =>
    choiceList({ ...texts.lists[name], load, chosen: selection.getAll(name), signal });
  const keys = () => metadataKeys(api, survey, signal);
  const lists = {
    shortcode: list('shortcode', () => formsOf(api, survey, signal)),
    question_ref: list('question_ref', () => questionsOf(api, survey, signal)),
    metadata: list('metadata', keys),
    require_metadata: list('require_metadata', keys),
  };
  const userid = html.input({
    name: 'userid',
    value: selection.get('userid') ?? '',
    placeholder: texts.everyone,
    spellcheck: false,
    autocomplete: 'off',
  });
  const pick = (name: keyof typeof options) => ({
    row: select(name, options[name], selection.get(name)),
    name,
    forWide: true,
  });
  /** The controls of the table, with their parameters; some are for the wide layout only. */
  const controls = [
    {
      row: html.div({}, ...radios('layout', texts.layouts, selection.get('layout'))),
      name: 'layout',
      forWide: false,
    },
    pick('value'),
    pick('repeats'),
    pick('columns'),
    { row: lists.require_metadata.row, name: 'require_metadata', forWide: true },
    { row: lists.metadata.row, name: 'metadata', forWide: false },
  ];
  const table = html.fieldset({}, html.legend({}, texts.table), ...controls.map(({ row }) => row));
  const [workbook, ...formats] = radios('format', texts.formats, selection.get('format'));
  const checked = selection.get('codebook') === 'true';
  const box = html.input({ type: 'checkbox', name: 'codebook', value: 'true', checked });
  const codebook = option(box, texts.codebook);
  controls.push({ row: codebook, name: 'codebook', forWide: false });
  const preview = previewView(api, read, signal);
  const state = html.p({ className: 'match', role: 'status' });
  const button = html.button({ type: 'submit', className: 'main' }, texts.download);
  const form = html.form(
    { className: 'download', noValidate: true, 'aria-labelledby': 'download' },
    html.fieldset(
      {},
      html.legend({}, texts.which),
      html.div('fields', since.row, until.row),
      html.p('note', texts.zone),
      lists.shortcode.row,
      lists.question_ref.row,
      field(texts.participant, userid),
    ),
    table,
    html.fieldset({}, html.legend({}, texts.format), html.div({}, workbook, codebook), ...formats),
    html.div('go', button, preview.button, state),
  );

  /** The form's selection, without defaults. `downloadRequestOf` drops the parameters that the format does not accept. */
  function read(): URLSearchParams {
    const chosen = new URLSearchParams({ survey });
    const dates = { since: since.instant(), until: until.instant() };
    for (const [name, value] of [...Object.entries(dates), ...new FormData(form)]) {
      if (typeof value === 'string' && value.trim() !== '' && value !== DEFAULTS[name])
        chosen.append(name, value.trim());
    }
    for (const [name, { values }] of Object.entries(lists)) for (const value of values()) chosen.append(name, value);
    return chosen;
  }

  let counting = new AbortController();
  let counted = '';
  /** Counts the selected responses, unless the same ones were counted before. */
  async function count(chosen: URLSearchParams): Promise<void> {
    const params = countedOf(chosen);
    if (counted === String(params)) return;
    counted = String(params);
    counting.abort();
    counting = new AbortController();
    const current = AbortSignal.any([counting.signal, signal]);
    button.disabled = false;
    state.textContent = texts.counting;
    try {
      await pause(REST_MS, current);
      const found = await summaries.get(params, current);
      state.textContent = texts.match(found);
      button.disabled = found.responses === 0;
    } catch (error) {
      if (current.aborted) return;
      counted = '';
      state.textContent = explain(error);
    }
  }

  function changed(): void {
    const chosen = read();
    const { accepts } = FORMATS[formatOf(chosen)];
    table.hidden = accepts.length === 0;
    for (const { row, name, forWide } of controls)
      row.hidden = !accepts.includes(name) || (forWide && !isWide(chosen) && accepts.includes('layout'));
    preview.clear();
    preview.button.hidden = formatOf(chosen) === 'ndjson';
    void count(chosen);
    onChange(chosen, [since.day(), until.day()]);
  }

  form.addEventListener('input', changed);
  const update = updateView((file) => void downloads.start(updateRequestOf(read()), file), signal);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void downloads.start(downloadRequestOf(read()));
  });
  changed();
  return {
    element: html.div({}, form, downloads.element, preview.element, update),
    selectDays([first, last]) {
      since.setDay(first);
      until.setDay(last);
      changed();
    },
  };
}

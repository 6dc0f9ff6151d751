import { element } from '../shared/dom.mjs';
import { explain, pause } from './api.mjs';
import { choiceList } from './choices.mjs';
import { radios, select } from './controls.mjs';
import { dateField } from './dates.mjs';
import { metadataKeys, questionsOf, formsOf } from './offers.mjs';
import { FORMATS, filtersOf, formatOf, isWide } from './selection.mjs';
import { form as texts } from './texts.mjs';

/** The delay after the last change before responses are counted. */
const REST_MS = 400;
/** The default values of radio buttons, which the URL does not contain. */
const DEFAULTS = /** @type {Record<string, string>} */ ({ layout: 'long', format: 'xlsx' });

/**
 * The form to choose what is downloaded.
 *
 * @param {import('./main.mjs').Session} session
 * @param {URLSearchParams} selection shown at first, with `survey`
 * @param {AbortSignal} signal
 * @param {object} on
 * @param {(selection: URLSearchParams) => void} on.change called first with the initial selection
 * @param {(selection: URLSearchParams) => void} on.download
 */
export function downloadForm({ api }, selection, signal, on) {
  const survey = /** @type {string} */ (selection.get('survey'));
  const since = dateField('since', texts.since, selection.get('since'), false);
  const until = dateField('until', texts.until, selection.get('until'), true);
  /** @param {keyof typeof texts.lists} name @param {() => Promise<import('./choices.mjs').Choice[]>} load */
  const list = (name, load) => choiceList({ ...texts.lists[name], load, chosen: selection.getAll(name) });
  const keys = () => metadataKeys(api, survey, signal);
  const lists = {
    shortcode: list('shortcode', () => formsOf(api, survey, signal)),
    question_ref: list('question_ref', () => questionsOf(api, survey, signal)),
    metadata: list('metadata', keys),
    require_metadata: list('require_metadata', keys),
  };
  const userid = element('input', {
    id: 'userid',
    name: 'userid',
    value: selection.get('userid') ?? '',
    spellcheck: false,
  });
  userid.autocomplete = 'off';
  const pick = (/** @type {string} */ name) => ({ row: select(name, selection.get(name)), name, forWide: true });
  /** The controls of the table, with their parameters; some are for the wide layout only. */
  const controls = [
    {
      row: element('div', {}, ...radios('layout', texts.layouts, selection.get('layout'))),
      name: 'layout',
      forWide: false,
    },
    ...['value', 'repeats', 'columns'].map(pick),
    { row: lists.require_metadata.row, name: 'require_metadata', forWide: true },
    { row: lists.metadata.row, name: 'metadata', forWide: false },
  ];
  const table = element('fieldset', {}, element('legend', {}, texts.table), ...controls.map(({ row }) => row));
  const state = element('p', { className: 'match', role: 'status' });
  const button = element('button', { type: 'submit', className: 'main' }, texts.download);
  const form = element(
    'form',
    { className: 'download', noValidate: true, 'aria-labelledby': 'download' },
    element(
      'fieldset',
      {},
      element('legend', {}, texts.which),
      element('div', { className: 'dates' }, since.row, until.row),
      element('p', { className: 'note' }, texts.zone),
      lists.shortcode.row,
      lists.question_ref.row,
      element('p', { className: 'field' }, element('label', { htmlFor: 'userid' }, texts.participant), userid),
    ),
    table,
    element(
      'fieldset',
      {},
      element('legend', {}, texts.format),
      ...radios('format', texts.formats, selection.get('format')),
    ),
    element('div', { className: 'go' }, button, state),
  );

  /** The form's selection, without defaults. `downloadRequestOf` drops the parameters that the format does not accept. */
  function read() {
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
  /** @type {import('./api.mjs').Summary | undefined} */
  let found;
  /** Counts the selected responses, unless the same ones were counted before. @param {URLSearchParams} chosen */
  async function count(chosen) {
    const filters = filtersOf(chosen);
    if (counted === String(filters)) return;
    counted = String(filters);
    counting.abort();
    counting = new AbortController();
    const current = AbortSignal.any([counting.signal, signal]);
    found = undefined;
    button.disabled = false;
    state.textContent = texts.counting;
    try {
      await pause(REST_MS, current);
      found = await api.summary(filters, current);
      showMatch();
    } catch (error) {
      if (current.aborted) return;
      counted = '';
      state.textContent = explain(error);
    }
  }
  function showMatch() {
    if (!found) return;
    const chosen = read();
    const leavesOut = isWide(chosen) && (chosen.has('require_metadata') || chosen.get('repeats') === 'drop');
    state.textContent = found.responses === 0 ? texts.nothing : texts.match(found, leavesOut);
    button.disabled = found.responses === 0;
  }

  function update() {
    const chosen = read();
    const { accepts } = /** @type {import('./selection.mjs').Format} */ (FORMATS[formatOf(chosen)]);
    table.hidden = accepts.length === 0;
    for (const { row, name, forWide } of controls)
      row.hidden = !accepts.includes(name) || (forWide && !isWide(chosen) && accepts.includes('layout'));
    showMatch();
    void count(chosen);
    on.change(chosen);
  }

  form.addEventListener('input', update);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    on.download(read());
  });
  update();
  return form;
}

import { copyButton, html } from './dom.ts';
import { choiceList } from './choices.ts';
import { codeView } from './code.ts';
import { field, option, radios, select, valuesOf } from './controls.ts';
import { loaded } from './loaded.ts';
import { metadataKeys } from './offers.ts';
import { previewView } from './preview.ts';
import {
  FORMATS,
  WIDE_ONLY,
  countedOf,
  downloadRequestOf,
  formatOf,
  isWide,
  zoneOf,
} from './selection.ts';
import type { Summary } from './summaries.ts';
import type { ViewContext } from './survey.ts';
import { form as texts, options as lists, participants } from './texts.ts';

/** The form to choose a file, how to get it, and whom it leaves out. */
export function downloadView({ session, selection, change, signal }: ViewContext): HTMLElement {
  const { summaries, downloads, limits } = session;
  /**
   * What needs metadata that a limited key does not see. Treatment arms are computed from the seed.
   */
  const hidden = new Set([
    ...(limits?.metadata?.length === 0 ? ['metadata', 'require_metadata'] : []),
    ...(limits?.metadata?.includes('seed') === false ? ['arm'] : []),
  ]);
  const survey = selection.get('survey') ?? '';
  const keyList = (name: keyof typeof texts.lists) =>
    choiceList({
      name,
      ...texts.lists[name],
      load: () => metadataKeys(session, survey, signal),
      chosen: selection.getAll(name),
      signal,
    });
  const box = (name: keyof typeof texts.boxes) => {
    const { label, note, choices } = texts.boxes[name];
    const [, value = ''] = choices;
    return option(
      html.input({ type: 'checkbox', name, value, checked: selection.get(name) === value }),
      label,
      note,
    );
  };
  const arm = html.input({
    name: 'arm',
    value: selection.getAll('arm').join(' '),
    placeholder: texts.arm.none,
    spellcheck: false,
  });
  const pick = (name: keyof typeof lists) => select(name, lists[name], selection.get(name));
  /** The controls of the table, by parameter. */
  const controls: readonly (readonly [name: string, row: HTMLElement])[] = [
    ['layout', html.div({}, ...radios('layout', texts.layouts, selection.get('layout')))],
    ['value', pick('value')],
    ['repeats', pick('repeats')],
    ['columns', pick('columns')],
    ['require_metadata', keyList('require_metadata')],
    ['timing', box('timing')],
    ['numbers', box('numbers')],
    ['metadata', keyList('metadata')],
    ['arm', html.div({}, field(texts.arm.label, arm), html.p('note', texts.arm.note))],
    ['codebook', box('codebook')],
  ];
  const rows = controls.map(([, row]) => row);
  const codebook = rows.pop();
  const options = html.details({}, html.summary({}, texts.options), ...rows.splice(5));
  const table = html.fieldset({}, html.legend({}, texts.table), ...rows, options);
  const [workbook, ...formats] = radios('format', texts.formats, selection.get('format'));
  const rare = formats.splice(2);
  const open = rare.some((row) => row.querySelector(':checked'));
  const preview = previewView(session, () => selection, signal);
  const button = html.button({ type: 'submit', className: 'main' }, texts.download);
  const code = codeView();
  const form = html.form(
    { className: 'download', noValidate: true, 'aria-label': texts.title },
    table,
    html.fieldset(
      {},
      html.legend({}, texts.format),
      workbook,
      codebook,
      ...formats,
      html.details({ open }, html.summary({}, texts.more), ...rare),
      html.p('note', texts.packages),
    ),
    html.div('go', button, preview.button),
  );

  let counted = '';
  const { node: counts, reload } = loaded(
    () => {
      counted = String(countedOf(selection));
      return summaries.get(countedOf(selection), signal, zoneOf(selection));
    },
    (found) => {
      button.disabled = found.responses === 0;
      return [found.responses === 0 ? html.p({}, texts.none) : undefined, ...leftOutView(found)];
    },
    signal,
    { loading: () => texts.counting },
  );

  function show(): void {
    const { accepts } = FORMATS[formatOf(selection)];
    const { path, params, file } = downloadRequestOf(selection);
    const isTable = accepts.includes('layout');
    table.hidden = accepts.length === 0;
    options.hidden = !isTable;
    for (const [name, row] of controls)
      row.hidden =
        hidden.has(name) ||
        !accepts.includes(name) ||
        (isTable && WIDE_ONLY.includes(name) && !isWide(selection));
    preview.clear();
    preview.button.hidden = formatOf(selection) === 'ndjson';
    code.show({ url: `${location.origin}/api/v1${path}`, pairs: params, file });
    if (counted !== String(countedOf(selection))) void reload();
  }
  form.addEventListener('input', () => {
    const names = ['format', ...controls.map(([name]) => name)];
    selection = change({ ...valuesOf(form, names), arm: arm.value.split(/[\s,]+/) });
    show();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void downloads.start(downloadRequestOf(selection));
  });
  show();
  return html.div({}, form, counts, preview.element, code.element);
}

/** Whom the file leaves out, by rule. */
function leftOutView({ left_out, left_out_by }: Summary): HTMLElement[] {
  if (left_out === 0) return [];
  const rules = left_out_by.map(({ rule, name, participants: count, userids }) => {
    const ids = userids.join('\n');
    return html.li(
      {},
      html.details(
        {},
        html.summary({}, texts.rule(rule, name), ' ', html.b({}, participants(count))),
        html.p(
          'note',
          texts.ids(userids.length, count),
          ' ',
          copyButton(() => ids, texts.idsLabel),
        ),
        html.pre({ tabIndex: 0 }, ids),
      ),
    );
  });
  return [html.div('left', html.p({}, texts.leftOut(left_out)), html.ul({}, ...rules))];
}

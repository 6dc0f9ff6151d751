import { copyButton, html } from './dom.ts';
import { choiceList } from './choices.ts';
import { codeView } from './code.ts';
import { field, option, radios, select, valuesOf } from './controls.ts';
import { loaded } from './loaded.ts';
import { metadataKeys } from './offers.ts';
import { previewView } from './preview.ts';
import {
  FORMATS,
  type Values,
  WIDE_ONLY,
  countedOf,
  downloadRequestOf,
  formatOf,
  isWide,
  zoneOf,
} from './selection.ts';
import type { Session } from './session.ts';
import type { Summary } from './summaries.ts';
import type { ViewContext } from './view.ts';
import { form as texts, options as lists, page, participants } from './texts.ts';

/** How many of the controls of the table are shown at once, before "More options". */
const SHOWN = 5;

/** The form to choose a file, how to get it, and whom it leaves out. */
export function downloadView({ session, selection, change, signal }: ViewContext): HTMLElement {
  const { summaries, downloads } = session;
  const fields = fileFields(session, selection, signal);
  const preview = previewView(session, () => selection, signal);
  const submit = html.button({ type: 'submit', className: 'main' }, texts.download);
  const code = codeView();
  const form = html.form(
    { className: 'download', noValidate: true, 'aria-label': texts.title },
    fields.table,
    fields.formats,
    html.div('go', submit, preview.button),
  );

  let counted = '';
  const { node: counts, reload } = loaded(
    () => {
      const params = countedOf(selection);
      counted = String(params);
      return summaries.get(params, signal, zoneOf(selection));
    },
    (found) => {
      submit.disabled = found.responses === 0;
      return [found.responses === 0 ? html.p({}, texts.none) : undefined, ...leftOutView(found)];
    },
    signal,
    { loading: () => page.counting },
  );

  function show(): void {
    const { path, params, file } = downloadRequestOf(selection);
    fields.show(selection);
    preview.clear();
    preview.button.hidden = formatOf(selection) === 'ndjson';
    code.show({ url: `${location.origin}/api/v1${path}`, pairs: params, file });
    if (counted !== String(countedOf(selection))) void reload();
  }

  form.addEventListener('input', () => {
    selection = change(fields.values(form));
    show();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void downloads.start(downloadRequestOf(selection));
  });
  show();
  return html.div({}, form, counts, preview.element, code.element);
}

/** The controls of the form, in two groups. */
function fileFields(session: Session, selection: URLSearchParams, signal: AbortSignal) {
  const codebook = box('codebook', selection);
  const ofTable = tableControls(session, selection, signal);
  const rows = ofTable.map(([, row]) => row);
  const options = html.details({}, html.summary({}, texts.options), ...rows.slice(SHOWN));
  const table = html.fieldset({}, html.legend({}, texts.table), ...rows.slice(0, SHOWN), options);

  const controls: readonly Control[] = [...ofTable, ['codebook', codebook]];
  const hidden = hiddenControls(session);

  return {
    table,
    formats: formatFieldset(selection, codebook),

    /** Shows the controls that the format of a selection accepts. */
    show(shown: URLSearchParams): void {
      const { accepts } = FORMATS[formatOf(shown)];
      const isTable = accepts.includes('layout');
      table.hidden = accepts.length === 0;
      options.hidden = !isTable;
      for (const [name, row] of controls) {
        const isOfWide = isTable && WIDE_ONLY.includes(name);
        row.hidden = hidden.has(name) || !accepts.includes(name) || (isOfWide && !isWide(shown));
      }
    },

    values(form: HTMLFormElement): Values {
      const names = ['format', ...controls.map(([name]) => name)];
      const { arm = [], ...others } = valuesOf(form, names);
      return { ...others, arm: arm.flatMap((text) => text.split(/[\s,]+/)) };
    },
  };
}

/** The controls of the table, by parameter. */
function tableControls(
  session: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
): readonly Control[] {
  const survey = selection.get('survey') ?? '';
  const arm = html.input({
    name: 'arm',
    value: selection.getAll('arm').join(' '),
    placeholder: texts.arm.none,
    spellcheck: false,
  });
  const pick = (name: keyof typeof lists) => select(name, lists[name], selection.get(name));
  // Who then chooses one row per participant wants texts. A link to letters stays one.
  const given = selection.get('value') ?? (isWide(selection) ? '' : 'label');
  const value = select('value', lists.value, given);
  value.append(html.span('note', lists.value.note));
  const keyList = (name: keyof typeof texts.lists) =>
    choiceList({
      name,
      ...texts.lists[name],
      load: () => metadataKeys(session, survey, signal),
      chosen: selection.getAll(name),
      signal,
    });

  return [
    ['layout', html.div({}, ...radios('layout', texts.layouts, selection.get('layout')))],
    ['value', value],
    ['repeats', pick('repeats')],
    ['columns', pick('columns')],
    ['require_metadata', keyList('require_metadata')],
    ['timing', box('timing', selection)],
    ['numbers', box('numbers', selection)],
    ['metadata', keyList('metadata')],
    ['arm', html.div({}, field(texts.arm.label, arm), html.p('note', texts.arm.note))],
  ];
}

type Control = readonly [name: string, row: HTMLElement];

function box(name: keyof typeof texts.boxes, selection: URLSearchParams): HTMLElement {
  const { label, note, choices } = texts.boxes[name];
  const [, value = ''] = choices;
  const checked = selection.get(name) === value;
  return option(html.input({ type: 'checkbox', name, value, checked }), label, note);
}

/** @param codebook belongs to the workbook */
function formatFieldset(selection: URLSearchParams, codebook: HTMLElement): HTMLElement {
  const [workbook, csv, ofQuestions, ...rare] = radios(
    'format',
    texts.formats,
    selection.get('format'),
  );
  const open = rare.some((row) => row.querySelector(':checked'));

  return html.fieldset(
    {},
    html.legend({}, texts.format),
    workbook,
    codebook,
    csv,
    ofQuestions,
    html.details({ open }, html.summary({}, texts.more), ...rare),
    html.p('note', texts.packages),
  );
}

/** The controls of what a limited key does not see. Treatment arms are computed from the seed. */
function hiddenControls({ limits }: Session): ReadonlySet<string> {
  const hidden = new Set<string>();
  if (limits?.metadata?.length === 0) hidden.add('metadata').add('require_metadata');
  if (limits?.metadata?.includes('seed') === false) hidden.add('arm');
  return hidden;
}

/** Whom the file leaves out, by rule. */
function leftOutView({ left_out, left_out_by }: Summary): HTMLElement[] {
  if (left_out === 0) return [];

  const rules = left_out_by.map(({ rule, name, participants: count, userids }) => {
    const ids = userids.join('\n');
    const copy = copyButton(() => ids, texts.idsLabel);
    return html.li(
      {},
      html.details(
        {},
        html.summary({}, texts.rule(rule, name), ' ', html.b({}, participants(count))),
        html.p('note', texts.ids(userids.length, count), ' ', copy),
        html.pre({ tabIndex: 0 }, ids),
      ),
    );
  });
  return [html.div('left', html.p({}, texts.leftOut(left_out)), html.ul({}, ...rules))];
}

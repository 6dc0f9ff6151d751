import { ApiError, explain } from './api.ts';
import { button, html } from './dom.ts';
import { option } from './controls.ts';
import { key as texts } from './texts.ts';

/** 32 random bytes and a checksum, in base 62. A limited key begins with `sresl_`. */
const KEY = /sresl?_[0-9A-Za-z]{49}/;

interface KeyViewOptions {
  /** The survey that the URL names. */
  readonly survey: string | null;
  /** Why the former key is not used any more. */
  readonly problem: string | undefined;
  /** Opens the page with the key. */
  readonly enter: (key: string, keep: boolean) => Promise<void>;
}

/** The form for the key. */
export function keyView({ survey, problem, enter }: KeyViewOptions): HTMLFormElement {
  const { row, input, key } = keyField('key-note key-state');
  const keep = html.input({ type: 'checkbox' });
  const open = html.button({ type: 'submit', className: 'main' }, texts.open);
  const state = html.p({ id: 'key-state', className: 'state', role: 'alert' }, problem ?? '');
  const form = html.form(
    { className: 'key', noValidate: true },
    html.h1({ tabIndex: -1 }, texts.title),
    html.p({}, survey ? texts.linked(survey) : texts.lead),
    row,
    state,
    html.p({ id: 'key-note', className: 'note' }, texts.note),
    option(keep, texts.keep, texts.keepNote),
    open,
  );

  const fail = (text: string) => {
    state.textContent = text;
    input.setAttribute('aria-invalid', 'true');
    input.focus();
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (key() === '') return fail(texts.empty);
    if (!KEY.test(key())) return fail(texts.malformed);

    state.textContent = '';
    open.disabled = true;
    try {
      await enter(key(), keep.checked);
    } catch (error) {
      fail(error instanceof ApiError && error.status === 401 ? texts.wrong : explain(error));
    } finally {
      open.disabled = false;
    }
    return undefined;
  });
  return form;
}

/**
 * A field for an API key, with a button that shows its characters. Most browsers do not offer to
 * save it.
 *
 * @param describedBy id of the element with a note about the key
 */
function keyField(describedBy: string) {
  const input = html.input({
    id: 'key',
    type: 'password',
    placeholder: 'sres_…',
    autocomplete: 'one-time-code', // with `off`, browsers would still offer to save a key
    autocapitalize: 'off',
    spellcheck: false,
    'aria-label': texts.label,
    'aria-describedby': describedBy,
  });
  const show = () => {
    const isShown = input.type === 'password';
    input.type = isShown ? 'text' : 'password';
    toggle.textContent = isShown ? texts.hide : texts.show;
    toggle.setAttribute('aria-pressed', String(isShown));
  };
  const toggle = button(texts.show, show, { 'aria-pressed': 'false', 'aria-controls': 'key' });

  return {
    row: html.div('entry', input, toggle),
    input,

    /**
     * The key as entered, without what is often copied with it: white space, quotes, `Bearer`, the
     * rest of its line.
     */
    key: () => {
      const text = input.value.replace(/[\s"'\u200b\ufeff]/g, '');
      return KEY.exec(text)?.[0] ?? text;
    },
  };
}

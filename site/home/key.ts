import { ApiError, explain } from './api.ts';
import { html } from './dom.ts';
import { option } from './controls.ts';
import { keyField } from './key-field.ts';
import { key as texts } from './texts.ts';

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
  const { row, input, key, isComplete } = keyField('key-note key-state');
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
    if (!isComplete()) return fail(texts.malformed);
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

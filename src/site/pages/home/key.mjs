import { ApiError, explain } from './api.mjs';
import { element } from '../shared/dom.mjs';
import { keyField } from '../shared/key-field.mjs';
import { key as texts } from './texts.mjs';

/** 32 random bytes and a checksum, in base 62. */
const COMPLETE = /^sres_[0-9A-Za-z]{49}$/;

/**
 * The form for the key.
 *
 * @param {object} options
 * @param {string | null} options.survey that the URL names
 * @param {string | undefined} options.problem why the former key is not used any more
 * @param {(key: string, keep: boolean) => Promise<void>} options.enter opens the page with the key
 */
export function keyView({ survey, problem, enter }) {
  const { row, input, key } = keyField('key-note key-state');
  const keep = element('input', { type: 'checkbox', id: 'keep', 'aria-describedby': 'keep-note' });
  const open = element('button', { type: 'submit', className: 'main' }, texts.open);
  const state = element('p', { id: 'key-state', className: 'state', role: 'alert' }, problem ?? '');
  const form = element(
    'form',
    { className: 'key', noValidate: true },
    element('h1', {}, texts.title),
    element('p', {}, survey ? texts.linked(survey) : texts.lead),
    row,
    element('p', { id: 'key-note', className: 'note' }, texts.note),
    element(
      'p',
      { className: 'choice' },
      keep,
      element(
        'label',
        { htmlFor: 'keep' },
        texts.keep,
        ' ',
        element('span', { id: 'keep-note', className: 'note' }, texts.keepNote),
      ),
    ),
    open,
    state,
  );

  const fail = (/** @type {string} */ text) => {
    state.textContent = text;
    input.setAttribute('aria-invalid', 'true');
    input.focus();
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (key() === '') return fail(texts.empty);
    if (!COMPLETE.test(key())) return fail(texts.malformed);
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

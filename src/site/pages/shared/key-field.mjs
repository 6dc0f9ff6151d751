import { element } from './dom.mjs';
import { shared as texts } from './texts.mjs';

/**
 * A field for an API key, with a button that shows its characters. Most browsers do not offer to save it.
 *
 * @param {string} describedBy id of the element with a note about the key
 * @returns {{ row: HTMLElement, input: HTMLInputElement, key: () => string }} key: without white space, quotes and `Bearer`,
 *   which are often copied with it
 */
export function keyField(describedBy) {
  const input = element('input', {
    id: 'key',
    type: 'password',
    placeholder: 'sres_…',
    autocomplete: 'one-time-code', // with `off`, browsers would still offer to save a key
    autocapitalize: 'off',
    spellcheck: false,
    'aria-label': texts.key,
    'aria-describedby': describedBy,
  });
  const button = element('button', { type: 'button', 'aria-pressed': 'false', 'aria-controls': 'key' }, texts.show);
  button.addEventListener('click', () => {
    const isShown = input.type === 'password';
    input.type = isShown ? 'text' : 'password';
    button.textContent = isShown ? texts.hide : texts.show;
    button.setAttribute('aria-pressed', String(isShown));
  });
  const key = () => input.value.replace(/[\s"'\u200b\ufeff]/g, '').replace(/^(?:authorization:)?bearer(?=sres_)/i, '');
  return { row: element('div', { className: 'entry' }, input, button), input, key };
}

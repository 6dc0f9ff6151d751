import { element } from './dom.ts';
import { shared as texts } from './texts.ts';

/** A field for an API key, and its button. */
interface KeyField {
  readonly row: HTMLElement;
  readonly input: HTMLInputElement;
  /** The key as entered, without white space, quotes and `Bearer`, which are often copied with it. */
  readonly key: () => string;
}

/**
 * A field for an API key, with a button that shows its characters. Most browsers do not offer to save it.
 *
 * @param describedBy id of the element with a note about the key
 */
export function keyField(describedBy: string): KeyField {
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

import { button, html } from './dom.ts';
import { key as texts } from './texts.ts';

/** 32 random bytes and a checksum, in base 62. A limited key begins with `sresl_`. */
const KEY = /sresl?_[0-9A-Za-z]{49}/;

/** A field for an API key, and its button. */
interface KeyField {
  readonly row: HTMLElement;
  readonly input: HTMLInputElement;
  /**
   * The key as entered, without what is often copied with it: white space, quotes, `Bearer`, the
   * rest of its line.
   */
  readonly key: () => string;
  /** Whether the key is as long as keys are. */
  readonly isComplete: () => boolean;
}

/**
 * A field for an API key, with a button that shows its characters. Most browsers do not offer to
 * save it.
 *
 * @param describedBy id of the element with a note about the key
 */
export function keyField(describedBy: string): KeyField {
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
  const key = () => {
    const text = input.value.replace(/[\s"'\u200b\ufeff]/g, '');
    return KEY.exec(text)?.[0] ?? text;
  };
  return { row: html.div('entry', input, toggle), input, key, isComplete: () => KEY.test(key()) };
}

import { shared as texts } from './texts.mjs';

/**
 * Creates an element. Strings become text, never HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} properties by name; names with a hyphen are attributes
 * @param {(Node | string | undefined)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) node.setAttribute(name, String(value));
    else Object.assign(node, { [name]: value });
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/**
 * Splits a description into text and, between backticks, code.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export const prose = (text) => text.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part));

/**
 * A long text in a frame that scrolls, also with the keyboard.
 *
 * @param {string} text
 * @param {string} label
 */
export const listing = (text, label) =>
  element('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, element('code', {}, text));

/**
 * A button that copies a text to the clipboard.
 *
 * @param {() => string} text
 * @param {string} what name of the text, for screen readers
 */
export function copyButton(text, what) {
  const button = element(
    'button',
    { type: 'button', className: 'quiet', 'aria-label': `${texts.copy} ${what}` },
    texts.copy,
  );
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = texts.copied;
    } catch {
      button.textContent = texts.notCopied; // not allowed, or a page without HTTPS
    }
    setTimeout(() => (button.textContent = texts.copy), 2000);
  });
  return button;
}

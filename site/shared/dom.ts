import { shared as texts } from './texts.ts';

/** Properties of an element, and attributes: the names with a hyphen. */
type Properties<Tag extends keyof HTMLElementTagNameMap> = Readonly<
  Partial<HTMLElementTagNameMap[Tag]> & Record<`${string}-${string}`, string>
>;

/** Creates an element. Strings become text, never HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag>,
  ...children: (Node | string | undefined)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries<unknown>(properties)) {
    if (name.includes('-')) node.setAttribute(name, String(value));
    else Object.assign(node, { [name]: value });
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

/** Splits a description into text and, between backticks, code. */
export const prose = (text: string): (Node | string)[] =>
  text.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part));

/** A long text in a frame that scrolls, also with the keyboard. */
export const listing = (text: string, label: string) =>
  element('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, element('code', {}, text));

/**
 * A button that copies a text to the clipboard.
 *
 * @param what name of the text, for screen readers
 */
export function copyButton(text: () => string, what: string): HTMLButtonElement {
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

import { copying as texts } from './texts.ts';

/** Properties of an element, and attributes: the names with a hyphen. */
type Properties<Tag extends keyof HTMLElementTagNameMap> = Readonly<
  Partial<HTMLElementTagNameMap[Tag]> & Record<`${string}-${string}`, string>
>;

type Tags = {
  readonly [Tag in keyof HTMLElementTagNameMap]: (
    properties: Properties<Tag> | string,
    ...children: (Node | string | undefined)[]
  ) => HTMLElementTagNameMap[Tag];
};

/**
 * Creates elements: `html.p('note', text)`. The first argument is the properties or the class.
 * Strings become text, never HTML.
 */
export const html = new Proxy({} as Tags, {
  get:
    (_, tag: string) =>
    (properties: Properties<'p'> | string, ...children: (Node | string | undefined)[]) => {
      const node = document.createElement(tag);
      const given = typeof properties === 'string' ? { className: properties } : properties;
      for (const [name, value] of Object.entries<unknown>(given)) {
        if (name.includes('-')) node.setAttribute(name, String(value));
        else Object.assign(node, { [name]: value });
      }
      node.append(...children.filter((child) => child !== undefined));
      return node;
    },
});

/** A button. @param act called when it is clicked */
export function button(
  text: string,
  act: () => unknown,
  properties: Properties<'button'> = {},
): HTMLButtonElement {
  const node = html.button({ type: 'button', ...properties }, text);
  node.addEventListener('click', () => void act());
  return node;
}

/** Calls a function once, when an element comes near the window. */
export function whenReached(node: Element, act: () => void, signal: AbortSignal): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: '50%' },
  );
  observer.observe(node);
  signal.addEventListener('abort', () => observer.disconnect());
}

/** A table with a row of headings. */
export const table = (
  columns: readonly string[],
  rows: readonly HTMLElement[],
  className = '',
): HTMLElement =>
  html.table(
    className,
    html.thead({}, html.tr({}, ...columns.map((text) => html.th({ scope: 'col' }, text)))),
    html.tbody({}, ...rows),
  );

/**
 * A program in a frame that scrolls, also with the keyboard, and a button that copies it.
 *
 * @param label of the program, for screen readers
 */
export const listing = (text: string, label: string) =>
  html.div(
    'listing',
    html.pre({ tabIndex: 0, role: 'group', 'aria-label': label }, html.code({}, text)),
    copyButton(() => text, label),
  );

/**
 * A button that copies a text to the clipboard.
 *
 * @param what name of the text, for screen readers
 * @param label of the button
 */
export function copyButton(
  text: () => string,
  what: string,
  label = texts.copy,
): HTMLButtonElement {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      node.textContent = texts.copied;
    } catch {
      node.textContent = texts.notCopied; // not allowed, or a page without HTTPS
    }
    setTimeout(() => (node.textContent = label), 2000);
  };
  const node = button(label, copy, { className: 'quiet', 'aria-label': `${label} ${what}` });
  return node;
}

/**
 * Makes an element. Text goes in as text, never as HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} properties a property's name, or an attribute's where it has a hyphen
 * @param {(Node | string | undefined)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) made.setAttribute(name, String(value));
    else Object.assign(made, { [name]: value });
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/**
 * The parts of a description: text, and code where it stands between backticks.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export const prose = (text) => text.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part));

/**
 * A long text in its own frame, which scrolls, by keyboard too.
 *
 * @param {string} text
 * @param {string} label
 */
export const listing = (text, label) =>
  element('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, element('code', {}, text));

/**
 * A button that puts a text on the clipboard.
 *
 * @param {() => string} text
 * @param {string} what
 */
export function copyButton(text, what) {
  const button = element('button', { type: 'button', className: 'quiet', 'aria-label': `Copy ${what}` }, 'Copy');
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? 'Copied' : 'Not allowed';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  return button;
}

import { button, html } from './dom.ts';
import { lists as texts } from './texts.ts';

const SHORT = 300;
const SHORT_LINES = 6;
/**
 * The most characters shown. Chromium lays them out in 0.1 s; a megabyte in a script without a font
 * took 6 minutes.
 */
const LONG = 10_000;

/**
 * The beginning of a text.
 *
 * @param length in UTF-16 code units
 */
export function cut(text: string, length = SHORT, lines = SHORT_LINES): string {
  const beginning = text.slice(0, length).split('\n').slice(0, lines).join('\n');
  return beginning === text ? text : `${beginning.replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * A text from the API, of any length and content: its beginning, and a button to show the rest, up
 * to 10,000 characters.
 */
export function longText(text: string): HTMLElement {
  const beginning = cut(text);
  const body = html.bdi('text', beginning);
  if (beginning === text) return body;

  const label = text.length > LONG ? texts.part(LONG, text.length) : texts.all(text.length);
  const show = () => {
    const isCut = toggle.getAttribute('aria-expanded') === 'false';
    body.textContent = isCut ? cut(text, LONG, Infinity) : beginning;
    toggle.textContent = isCut ? texts.less : label;
    toggle.setAttribute('aria-expanded', String(isCut));
  };
  const toggle = button(label, show, { className: 'quiet', 'aria-expanded': 'false' });
  return html.div({}, body, toggle);
}

import { html } from '../shared/dom.ts';
import type { Params } from './api.ts';
import { cut } from './long-text.ts';
import { link as texts } from './texts.ts';

/** Defaults of the API that a link may name. The page's own links leave them out. */
export const DEFAULTS: Readonly<Record<string, string>> = {
  layout: 'long',
  format: 'xlsx',
  value: 'response',
  repeats: 'last',
  columns: 'form_question',
};

/**
 * Names the parts of a link that the page does not apply.
 *
 * @param used the selection that the page made of it
 * @returns undefined if the page uses all of it
 */
export function linkNotice(link: URLSearchParams, used: URLSearchParams): HTMLElement | undefined {
  const left: Params = [...used];
  const unused = [...link].filter(([name, value]) => {
    const text = value.trim();
    if (text === '' || (Object.hasOwn(DEFAULTS, name) && DEFAULTS[name] === text)) return false;
    const found = left.findIndex((pair) => pair[0] === name && pair[1] === text);
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
  if (unused.length === 0) return undefined;
  const reason = (name: string) => {
    if (used.has(name)) return texts.once;
    return name === 'since' || name === 'until' ? texts.notDate : texts.unknown;
  };
  const row = ([name, value]: Params[number]) => html.li({}, html.bdi({}, cut(`${name}=${value}`, 200)), reason(name));
  return html.div(
    { className: 'cut', role: 'alert' },
    html.p({}, texts.title),
    html.ul({}, ...unused.map(row)),
    html.p({}, used.has('survey') ? texts.check : texts.noSurvey),
  );
}

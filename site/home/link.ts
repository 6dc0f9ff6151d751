import { html } from './dom.ts';
import type { Params } from './api.ts';
import { cut } from './long-text.ts';
import { link as texts } from './texts.ts';

/**
 * Names the parts of a link that the page does not apply.
 *
 * @param unused those parts
 * @param used the selection that the page made of the others
 * @returns undefined if there are none
 */
export function linkNotice(unused: Params, used: URLSearchParams): HTMLElement | undefined {
  if (unused.length === 0) return undefined;

  const reason = (name: string) => {
    if (used.has(name)) return texts.once;
    return name === 'since' || name === 'until' ? texts.notDay : texts.unknown;
  };
  const row = ([name, value]: Params[number]) =>
    html.li({}, html.bdi({}, cut(`${name}=${value}`, 200)), reason(name));

  return html.div(
    { className: 'cut', role: 'alert' },
    html.p({}, texts.title),
    html.ul({}, ...unused.map(row)),
    html.p({}, used.has('survey') ? texts.check : texts.noSurvey),
  );
}

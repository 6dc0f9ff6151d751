import { headings, html } from '../dom.ts';
import { cut } from '../long-text.ts';
import { number, results as texts } from '../texts.ts';
import type { Asked } from './asked.ts';
import { questionName } from './split.ts';

/** How many of a form's participants answered each question, and where their last answers are. */
export const funnelTable = (rows: readonly HTMLElement[]): HTMLElement =>
  html.table('funnel', html.thead({}, headings(texts.funnel)), html.tbody({}, ...rows));

/** A question, with a link to its answers. */
export function funnelRow({ question, form, stops }: Asked): HTMLElement {
  const { participants, question_text: text, question_ref: ref } = question;
  const percent = (count: number) => `${(100 * count) / form.participants}%`;
  const bar = html.div({ className: 'share', 'aria-hidden': 'true' });
  bar.style.setProperty('--share', percent(participants));
  bar.style.setProperty('--kept', percent(participants - stops));

  const link = html.a(
    { href: `#${questionName(question)}` },
    html.bdi({}, cut(text, 120, 1) || ref),
  );
  return html.tr(
    {},
    html.th({ scope: 'row' }, link, bar),
    html.td(
      {},
      number(participants),
      html.span('note', texts.share(participants / form.participants)),
    ),
    html.td({}, number(stops)),
  );
}

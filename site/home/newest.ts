import type { Params } from './api.ts';
import { button, html } from './dom.ts';
import { focus } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { formsOf } from './offers.ts';
import { filtersOf } from './selection.ts';
import type { ViewContext } from './survey.ts';
import { moment, newest as texts, page } from './texts.ts';

const PAGE_SIZE = 25;

/** A response, as the API describes it. */
export interface Answer {
  readonly timestamp: string;
  readonly userid: string;
  readonly shortcode: string;
  readonly question_text: string;
  readonly response: string;
  readonly translated_response: string | null;
  readonly token: string;
}

/** The newest of the selected answers, by participant. */
export function newestView({ session, selection, signal }: ViewContext): HTMLElement {
  /** @param after the token of the last answer of the page before; by default, the first page */
  const answers = (after?: string) =>
    loaded(
      async () => {
        const wanted = {
          missing: '404',
          order: 'desc',
          pageSize: `${PAGE_SIZE}`,
          ...(after && { after }),
        };
        const params: Params = [...filtersOf(selection), ...Object.entries(wanted)];
        const { responses: rows } = await session.api.json<{ responses: Answer[] }>(
          '/responses',
          params,
          signal,
        );
        const forms = await formsOf(session, selection.get('survey') ?? '', signal);
        return { rows, titles: new Map(forms.map(({ value, label }) => [value, label])) };
      },
      ({ rows, titles }) => {
        const last = rows.length === PAGE_SIZE ? rows.at(-1) : undefined;
        const groups = [...Map.groupBy(rows, ({ userid }) => userid)].map(([userid, of]) =>
          group(userid, of, titles),
        );
        return [html.ul('people', ...groups), last && more(last.token)];
      },
      signal,
      after ? {} : { done: () => texts.checked(moment(new Date().toISOString())) },
    );
  const more = (token: string) => {
    const next = button(page.more, () => {
      const { node } = answers(token);
      next.replaceWith(node);
      focus(node);
    });
    return next;
  };

  const { node, reload } = answers();
  return html.div('newest', button(texts.check, reload, { className: 'quiet' }), node);
}

/** A participant's answers. @param titles of the forms, by shortcode */
function group(
  userid: string,
  answers: readonly Answer[],
  titles: ReadonlyMap<string, string>,
): HTMLElement {
  const forms = new Set(answers.map(({ shortcode }) => titles.get(shortcode) ?? shortcode));
  const names = [...forms].flatMap((form, i) => [i === 0 ? '' : ', ', html.bdi({}, cut(form, 60))]);
  return html.li(
    {},
    html.div(
      'from',
      html.span({}, texts.participant, ' ', html.bdi({}, cut(userid, 60))),
      html.span('note', texts.form, ' ', ...names),
    ),
    html.ul('answers', ...answers.map(answerRow)),
  );
}

function answerRow({
  timestamp,
  question_text,
  response,
  translated_response,
}: Answer): HTMLElement {
  const textOf = (text: string) => (text === '' ? html.p('note', texts.empty) : longText(text));
  const shown = translated_response ?? response;
  const original =
    shown === response ? undefined : html.div('note', texts.translated, ' ', textOf(response));
  return html.li(
    {},
    html.div({}, html.div('note', longText(question_text)), html.div({}, textOf(shown), original)),
    html.time({ className: 'note', dateTime: timestamp }, moment(timestamp)),
  );
}

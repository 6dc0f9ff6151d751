import type { Api } from './api.ts';
import { button, html, section } from '../shared/dom.ts';
import { focus } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import type { Session } from './session.ts';
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

/**
 * The newest answers of a survey, the newest first.
 *
 * @param after the token of the last answer of the page before; by default, the first page
 */
export async function newestAnswers(api: Api, survey: string, signal: AbortSignal, after?: string): Promise<Answer[]> {
  const query = { survey, missing: '404', order: 'desc', pageSize: `${PAGE_SIZE}`, ...(after && { after }) };
  return (await api.json<{ responses: Answer[] }>('/responses', Object.entries(query), signal)).responses;
}

/**
 * The newest answers of a survey, by participant.
 *
 * @param survey its name
 * @param first the first page, if it is known
 */
export function newestView({ api }: Session, survey: string, signal: AbortSignal, first?: Answer[]): HTMLElement {
  const answers = (after?: string) =>
    loaded(
      async () => {
        const rows = (after === undefined && first) || (await newestAnswers(api, survey, signal, after));
        first = undefined;
        return rows;
      },
      (rows) => {
        const last = rows.length === PAGE_SIZE ? rows.at(-1) : undefined;
        const groups = [...Map.groupBy(rows, ({ userid }) => userid)].map(([userid, of]) => group(userid, of));
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
  return section('newest', texts.title, button(texts.check, reload, { className: 'quiet' }), node);
}

/** A participant's answers. */
const group = (userid: string, answers: readonly Answer[]) =>
  html.li(
    {},
    html.div(
      'from',
      html.span({}, texts.participant, ' ', html.bdi({}, cut(userid, 60))),
      html.span('note', texts.form, ' ', ...formsOf(answers)),
    ),
    html.ul('answers', ...answers.map(answerRow)),
  );

const formsOf = (answers: readonly Answer[]) =>
  [...new Set(answers.map(({ shortcode }) => shortcode))].flatMap((shortcode, i) => [
    i === 0 ? '' : ', ',
    html.bdi({}, cut(shortcode, 60)),
  ]);

function answerRow({ timestamp, question_text, response, translated_response }: Answer): HTMLElement {
  const answer = translated_response ?? response;
  return html.li(
    {},
    html.div(
      {},
      html.div('note', longText(question_text)),
      answer === '' ? html.p('note', texts.empty) : longText(answer),
      translated_response === null ? undefined : html.div('note', texts.translated, ' ', longText(response)),
    ),
    html.time({ className: 'note', dateTime: timestamp }, moment(timestamp)),
  );
}

import type { Params } from './api.ts';
import { choiceLabel } from './choice-label.ts';
import { button, html } from './dom.ts';
import { moveFocusTo } from './lists.ts';
import { type Loaded, loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { formsOf } from './offers.ts';
import { changed, filtersOf, hrefOf } from './selection.ts';
import type { ViewContext } from './view.ts';
import { moment, newest as texts, page, results } from './texts.ts';

const PAGE_SIZE = 25;

/** A response, as the API describes it. */
interface Answer {
  readonly timestamp: string;
  readonly userid: string;
  readonly shortcode: string;
  readonly question_text: string;
  readonly response: string;
  readonly translated_response: string | null;
  readonly token: string;
}

/** The newest of the selected answers, by participant. */
export function newestView(context: ViewContext): HTMLElement {
  const { node, reload } = pageOfAnswers(context);
  return html.div('newest', button(texts.check, reload, { className: 'quiet' }), node);
}

/** @param after the token of the last answer of the page before; by default, the first page */
function pageOfAnswers(context: ViewContext, after?: string): Loaded {
  const { session, selection, signal } = context;
  const wanted = {
    order: 'desc',
    pageSize: `${PAGE_SIZE}`,
    ...(after && { after }),
  };
  const params: Params = [...filtersOf(selection), ...Object.entries(wanted)];

  const request = async () => {
    const path = '/responses';
    const { responses } = await session.api.json<{ responses: Answer[] }>(path, params, signal);
    const forms = await formsOf(session, selection.get('survey') ?? '', signal);
    const titles = new Map(forms.map(({ value, label }) => [value, label]));
    return { responses, titles };
  };

  const showNext = (token: string) => {
    const next = button(page.more, () => {
      const { node } = pageOfAnswers(context, token);
      next.replaceWith(node);
      moveFocusTo(node);
    });
    return next;
  };

  const render = ({ responses, titles }: Awaited<ReturnType<typeof request>>) => {
    const last = responses.length === PAGE_SIZE ? responses.at(-1) : undefined;
    const byParticipant = Map.groupBy(responses, ({ userid }) => userid);
    const linkTo = (userid: string) => hrefOf(changed(selection, { userid: [userid] }));
    const groups = Array.from(byParticipant, ([userid, given]) =>
      group(html.a({ href: linkTo(userid) }, html.bdi({}, cut(userid, 60))), given, titles),
    );
    return [html.ul('people', ...groups), last && showNext(last.token)];
  };

  const done = () => texts.checked(moment(new Date().toISOString()));
  return loaded(request, render, signal, after ? {} : { done });
}

/**
 * A participant's answers.
 *
 * @param link to the participant
 * @param titles of the forms, by shortcode
 */
function group(
  link: HTMLElement,
  answers: readonly Answer[],
  titles: ReadonlyMap<string, string>,
): HTMLElement {
  const forms = new Set(answers.map(({ shortcode }) => titles.get(shortcode) ?? shortcode));
  const names = [...forms].flatMap((form, i) => [i === 0 ? '' : ', ', html.bdi({}, cut(form, 60))]);
  return html.li(
    {},
    html.div(
      'from',
      html.span({}, texts.participant, ' ', link),
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
  const textOf = (text: string) => (text === '' ? html.p('note', results.empty) : longText(text));
  const label = choiceLabel(response, question_text);
  const shown = label ?? translated_response ?? response;
  const original =
    label === undefined ? [texts.translated, ' ', textOf(response)] : [texts.choice(response)];
  const note = shown === response ? undefined : html.div('note', ...original);
  return html.li(
    {},
    html.div({}, html.div('note', longText(question_text)), html.div({}, textOf(shown), note)),
    html.time({ className: 'note', dateTime: timestamp }, moment(timestamp)),
  );
}

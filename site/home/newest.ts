import { element } from '../shared/dom.ts';
import { focus } from './lists.ts';
import { loaded } from './loaded.ts';
import type { Params } from './api.ts';
import { cut, longText } from './long-text.ts';
import type { Session } from './session.ts';
import { moment, newest as texts, page } from './texts.ts';

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

/**
 * The newest responses of a survey.
 *
 * @param survey its name
 */
export function newestView({ api }: Session, survey: string, signal: AbortSignal): HTMLElement {
  /** Loads a page of responses. @param after the last token of the page before it; by default, the first page */
  const answers = (after?: string) =>
    loaded(
      () => {
        const params: Params = [
          ['survey', survey],
          ['order', 'desc'],
          ['pageSize', String(PAGE_SIZE)],
        ];
        return api.json<{ responses: Answer[] }>('/responses', after ? [...params, ['after', after]] : params, signal);
      },
      ({ responses }) => {
        const last = responses.length === PAGE_SIZE ? responses.at(-1) : undefined;
        return [element('ul', { className: 'answers' }, ...responses.map(answerRow)), last && more(last.token)];
      },
      signal,
      after ? undefined : () => texts.checked(moment(new Date().toISOString())),
    );
  const more = (token: string) => {
    const button = element('button', { type: 'button' }, page.more);
    button.addEventListener('click', () => {
      const { node } = answers(token);
      button.replaceWith(node);
      focus(node);
    });
    return button;
  };

  const { node, reload } = answers();
  const check = element('button', { type: 'button', className: 'plain' }, texts.check);
  check.addEventListener('click', () => void reload());
  return element(
    'section',
    { 'aria-labelledby': 'newest' },
    element('div', { className: 'title' }, element('h2', { id: 'newest' }, texts.title), check),
    node,
  );
}

function answerRow({
  timestamp,
  userid,
  shortcode,
  question_text,
  response,
  translated_response,
}: Answer): HTMLElement {
  const answer = translated_response ?? response;
  return element(
    'li',
    {},
    element(
      'div',
      { className: 'note from' },
      element('time', { dateTime: timestamp }, moment(timestamp)),
      element('span', {}, texts.participant, ' ', element('bdi', {}, cut(userid, 60))),
      element('span', {}, texts.form, ' ', element('bdi', {}, cut(shortcode, 60))),
    ),
    element(
      'div',
      {},
      element('div', { className: 'note' }, longText(question_text, texts.question)),
      answer === '' ? element('p', { className: 'note' }, texts.empty) : longText(answer, texts.answer),
      translated_response === null
        ? undefined
        : element('div', { className: 'note' }, texts.translated, ' ', longText(response, texts.original)),
    ),
  );
}

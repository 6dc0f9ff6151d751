import { element } from '../shared/dom.mjs';
import { focus } from './lists.mjs';
import { loaded } from './loaded.mjs';
import { cut, longText } from './long-text.mjs';
import { moment, newest as texts, page } from './texts.mjs';

const PAGE_SIZE = 25;

/** @typedef {{ timestamp: string, userid: string, shortcode: string, question_text: string, response: string, translated_response: string | null, token: string }} Answer */

/**
 * The newest responses of a survey.
 *
 * @param {import('./main.mjs').Session} session
 * @param {string} survey its name
 * @param {AbortSignal} signal
 */
export function newestView({ api }, survey, signal) {
  /** Loads a page of responses. @param {string} [after] the last token of the page before it; by default, the first page */
  const answers = (after) =>
    loaded(
      () => {
        /** @type {[string, string][]} */
        const params = [
          ['survey', survey],
          ['order', 'desc'],
          ['pageSize', String(PAGE_SIZE)],
        ];
        return api.json('/responses', after ? [...params, ['after', after]] : params, signal);
      },
      (/** @type {{ responses: Answer[] }} */ { responses }) => {
        const last = responses.length === PAGE_SIZE ? responses.at(-1) : undefined;
        return [element('ul', { className: 'answers' }, ...responses.map(answerRow)), last && more(last.token)];
      },
      signal,
      after ? undefined : () => texts.checked(moment(new Date().toISOString())),
    );
  /** @param {string} token */
  const more = (token) => {
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
    element('p', { className: 'note' }, texts.zone),
    node,
  );
}

/** @param {Answer} answer */
function answerRow({ timestamp, userid, shortcode, question_text, response, translated_response }) {
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

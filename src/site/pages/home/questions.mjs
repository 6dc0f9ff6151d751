import { element } from '../shared/dom.mjs';
import { searchableList } from './lists.mjs';
import { loaded } from './loaded.mjs';
import { cut, longText } from './long-text.mjs';
import { number, questions as texts } from './texts.mjs';

/** @typedef {{ shortcode: string, question_ref: string, question_text: string, responses: number, participants: number }} Question */

/**
 * The questions of a survey that have responses.
 *
 * @param {import('./main.mjs').Session} session
 * @param {string} survey its name
 * @param {AbortSignal} signal
 */
export function questionsView({ api }, survey, signal) {
  const { node } = loaded(
    () => api.json('/responses/questions', [['survey', survey]], signal),
    (/** @type {{ questions: Question[] }} */ { questions }) => {
      const list = element('tbody', {});
      const head = texts.columns.map((name) => element('th', { scope: 'col' }, name));
      const frame = element('table', {}, element('thead', {}, element('tr', {}, ...head)), list);
      const words = (/** @type {Question} */ { shortcode, question_ref, question_text }) =>
        `${shortcode} ${question_ref} ${question_text}`;
      return searchableList({ items: questions, row: questionRow, list, frame, words, texts });
    },
    signal,
  );
  return element(
    'section',
    { 'aria-labelledby': 'questions', className: 'questions' },
    element('h2', { id: 'questions' }, texts.title),
    node,
  );
}

/** @param {Question} question */
function questionRow({ shortcode, question_ref, question_text, responses, participants }) {
  return element(
    'tr',
    {},
    element(
      'td',
      {},
      longText(question_text, texts.text),
      element(
        'span',
        { className: 'note' },
        element('bdi', {}, cut(question_ref, 80)),
        ' · ',
        element('bdi', {}, cut(shortcode, 80)),
      ),
    ),
    element('td', {}, number(responses)),
    element('td', {}, number(participants)),
  );
}

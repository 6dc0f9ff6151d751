import type { Params } from './api.ts';
import { element } from '../shared/dom.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { downloadRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { answers, participants as people, questions as texts } from './texts.ts';

/** A question of a form, as the API describes it. */
export interface Question {
  readonly shortcode: string;
  readonly question_ref: string;
  readonly question_text: string;
  readonly responses: number;
  readonly participants: number;
  /** The lettered choices that the text lists, at least two; null if it lists none. */
  readonly choices: readonly { readonly value: string; readonly label: string }[] | null;
}

/**
 * The questions of a survey that have responses.
 *
 * @param survey its name
 */
export function questionsView({ api, downloads }: Session, survey: string, signal: AbortSignal): HTMLElement {
  const params: Params = [['survey', survey]];
  const { node } = loaded(
    async () => {
      // First the numbers at the top of the page: two scans at a time would delay them.
      const { participants } = await api.summary(params, signal);
      return { participants, ...(await api.json<{ questions: Question[] }>('/responses/questions', params, signal)) };
    },
    ({ questions, participants }) => {
      const list = element('tbody', {});
      const head = texts.columns.map((name) => element('th', { scope: 'col' }, name));
      const frame = element('table', {}, element('thead', {}, element('tr', {}, ...head)), list);
      const words = ({ shortcode, question_ref, question_text }: Question) =>
        `${shortcode} ${question_ref} ${question_text}`;
      const row = (question: Question) => questionRow(question, participants);
      return [
        element('p', { className: 'note' }, texts.note),
        ...searchableList({ items: questions, row, list, frame, words, texts }),
      ];
    },
    signal,
  );
  const codebook = element('button', { type: 'button', className: 'plain' }, texts.codebook);
  codebook.addEventListener('click', () => {
    void downloads.start(downloadRequestOf(new URLSearchParams({ survey, format: 'codebook' })));
  });
  return element(
    'section',
    { 'aria-labelledby': 'questions', className: 'questions' },
    element('div', { className: 'title' }, element('h2', { id: 'questions' }, texts.title), codebook),
    node,
  );
}

/** @param all the number of the survey's participants */
function questionRow(
  { shortcode, question_ref, question_text, responses, participants, choices }: Question,
  all: number,
): HTMLElement {
  const share = participants / all;
  const bar = element('div', { className: 'share' }, element('div', {}));
  bar.style.setProperty('--share', `${100 * share}%`);
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
      choices ? choiceList(choices) : undefined,
    ),
    element(
      'td',
      {},
      element('span', {}, texts.share(share)),
      bar,
      element('span', { className: 'note' }, people(participants)),
      // Someone who answers again is one participant.
      responses === participants ? undefined : element('span', { className: 'note' }, answers(responses)),
    ),
  );
}

/** Closed at first, because the text of the question lists them, too. */
const choiceList = (choices: NonNullable<Question['choices']>) =>
  element(
    'details',
    {},
    element('summary', {}, texts.choices(choices.length)),
    element(
      'ul',
      {},
      ...choices.map(({ value, label }) => element('li', {}, `${value} = `, element('bdi', {}, cut(label)))),
    ),
  );

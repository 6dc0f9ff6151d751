import { element } from '../shared/dom.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import type { Session } from './session.ts';
import { number, questions as texts } from './texts.ts';

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
export function questionsView({ api }: Session, survey: string, signal: AbortSignal): HTMLElement {
  const { node } = loaded(
    () => api.json<{ questions: Question[] }>('/responses/questions', [['survey', survey]], signal),
    ({ questions }) => {
      const list = element('tbody', {});
      const head = texts.columns.map((name) => element('th', { scope: 'col' }, name));
      const frame = element('table', {}, element('thead', {}, element('tr', {}, ...head)), list);
      const words = ({ shortcode, question_ref, question_text }: Question) =>
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

function questionRow({
  shortcode,
  question_ref,
  question_text,
  responses,
  participants,
  choices,
}: Question): HTMLElement {
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
    element('td', {}, number(participants)),
    element('td', {}, number(responses)),
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

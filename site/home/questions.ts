import type { Params } from './api.ts';
import { button, html, section, table } from '../shared/dom.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { downloadRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { answers, choices as choiceTexts, participants as people, questions as texts } from './texts.ts';

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
export function questionsView(session: Session, survey: string, signal: AbortSignal): HTMLElement {
  const { api, summaries, downloads } = session;
  const params: Params = [['survey', survey]];
  const { node } = loaded(
    async () => {
      // The numbers at the top of the page come first: two scans at a time would delay them.
      const { participants } = await summaries.get(params, signal);
      return { participants, ...(await api.json<{ questions: Question[] }>('/responses/questions', params, signal)) };
    },
    ({ questions, participants }) => {
      const list = html.tbody({});
      const frame = table(texts.columns, list);
      const words = ({ shortcode, question_ref, question_text }: Question) =>
        `${shortcode} ${question_ref} ${question_text}`;
      const row = (question: Question) => questionRow(question, participants);
      return [html.p('note', texts.note), ...searchableList({ items: questions, row, list, frame, words, texts })];
    },
    signal,
  );
  const codebook = () => downloads.start(downloadRequestOf(new URLSearchParams({ survey, format: 'codebook' })));
  return section('questions', texts.title, button(texts.codebook, codebook, { className: 'quiet' }), node);
}

/** @param all the number of the survey's participants */
function questionRow(
  { shortcode, question_ref, question_text, responses, participants, choices }: Question,
  all: number,
): HTMLElement {
  const share = participants / all;
  const bar = html.div('share', html.div({}));
  bar.style.setProperty('--share', `${100 * share}%`);
  return html.tr(
    {},
    html.td(
      {},
      longText(question_text),
      html.span('note', html.bdi({}, cut(question_ref, 80)), ' · ', html.bdi({}, cut(shortcode, 80))),
      choices ? choiceList(choices) : undefined,
    ),
    html.td(
      {},
      html.span({}, texts.share(share)),
      bar,
      html.span('note', people(participants)),
      // Someone who answers again is one participant.
      responses === participants ? undefined : html.span('note', answers(responses)),
    ),
  );
}

/** Closed at first, because the text of the question lists them, too. */
const choiceList = (choices: NonNullable<Question['choices']>) =>
  html.details(
    {},
    html.summary({}, choiceTexts.count(choices.length)),
    html.ul({}, ...choices.map(({ value, label }) => html.li({}, `${value} = `, html.bdi({}, cut(label))))),
  );

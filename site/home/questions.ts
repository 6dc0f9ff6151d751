import type { Params } from './api.ts';
import { answeredView } from './answered.ts';
import { button, headings, html, section } from '../shared/dom.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { formsOf } from './offers.ts';
import { downloadRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { answers, formName, participants as people, questions as texts } from './texts.ts';

/** A question of a form, as the API describes it. */
export interface Question {
  /** The name of its column in a wide file. */
  readonly column: string;
  readonly shortcode: string;
  readonly question_ref: string;
  readonly question_text: string;
  readonly responses: number;
  readonly participants: number;
  /** The lettered choices that the text lists, at least two; null if it lists none. */
  readonly choices: readonly { readonly value: string; readonly label: string }[] | null;
}

/**
 * The questions of a survey that have responses, by form.
 *
 * @param survey its name
 */
export function questionsView(session: Session, survey: string, signal: AbortSignal): HTMLElement {
  const { api, results, summaries, downloads } = session;
  const params: Params = [['survey', survey]];
  const { node } = loaded(
    async () => {
      // The numbers at the top of the page come first: two scans at a time would delay them.
      const { forms } = await summaries.get(params, signal);
      const titles = new Map((await formsOf(api, survey, signal)).map(({ value, label }) => [value, label]));
      const { questions } = await results.get<{ questions: Question[] }>('/responses/questions', params, signal);
      return { questions, titles, forms: new Map(forms.map((form) => [form.shortcode, form.participants])) };
    },
    ({ questions, titles, forms }) => {
      const list = html.table({}, html.thead({}, headings(texts.columns)));
      const rows = questions.map((question, i) => {
        const title = titles.get(question.shortcode) ?? question.shortcode;
        const participants = forms.get(question.shortcode) ?? 0;
        const isFirst = questions[i - 1]?.shortcode !== question.shortcode;
        const form = isFirst ? formRow(formName(title, question.shortcode), participants) : undefined;
        const row = () =>
          html.tbody(
            {},
            form,
            questionRow(question, participants),
            detailRow(() => answeredView(session, params, question, signal)),
          );
        return { question, title, row };
      });
      const words = ({ question: { shortcode, question_ref, question_text }, title }: (typeof rows)[number]) =>
        `${shortcode} ${title} ${question_ref} ${question_text}`;
      return [
        html.p('note', texts.note),
        ...searchableList({ items: rows, row: ({ row }) => row(), list, words, texts }),
      ];
    },
    signal,
  );
  const codebook = () => downloads.start(downloadRequestOf(new URLSearchParams({ survey, format: 'codebook' })));
  return section('questions', texts.title, button(texts.codebook, codebook, { className: 'quiet' }), node);
}

const formRow = (name: string, participants: number): HTMLElement =>
  html.tr('form', html.th({ scope: 'rowgroup' }, html.bdi({}, cut(name, 120, 1))), html.td({}, people(participants)));

/**
 * @param all the number of the form's participants
 */
function questionRow({ question_ref, question_text, responses, participants }: Question, all: number): HTMLElement {
  const share = participants / all;
  const bar = html.div('share', html.div({}));
  bar.style.setProperty('--share', `${100 * share}%`);
  return html.tr(
    {},
    html.td({}, longText(question_text), html.span('note', html.bdi({}, cut(question_ref, 80)))),
    html.td(
      {},
      html.span({}, texts.share(share)),
      bar,
      html.span('note', people(participants)),
      // Someone who answers again is one participant.
      responses === participants ? undefined : html.span('note', answers(responses)),
      participants === all ? undefined : html.span('note', texts.others(all - participants)),
    ),
  );
}

/** @param detail what was answered, created when it is opened */
function detailRow(detail: () => HTMLElement): HTMLElement {
  const details = html.details({}, html.summary({}, texts.answered));
  details.addEventListener('toggle', () => details.append(detail()), { once: true });
  return html.tr('detail', html.td({ colSpan: 2 }, details));
}

import type { Params } from './api.ts';
import { answeredView } from './answered.ts';
import { button, headings, html, shareBar } from './dom.ts';
import { select } from './controls.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { formsOf } from './offers.ts';
import { changed, downloadRequestOf, filtersOf, zoneOf } from './selection.ts';
import type { ViewContext } from './survey.ts';
import { answers, formName, options, participants as people, questions as texts } from './texts.ts';

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

/** A question, with the name of its form and the number of the form's participants. */
interface Asked {
  readonly question: Question;
  readonly form: string;
  readonly all: number;
}

/** The questions of the selected answers, by form, or once for all forms that ask them. */
export function questionsView({ session, selection, change, signal }: ViewContext): HTMLElement {
  const { results, summaries, downloads } = session;
  const params = filtersOf(selection);
  const isMerged = selection.get('columns') === 'question';
  const columns: Params = isMerged ? [['columns', 'question']] : [];
  const { node } = loaded(
    async () => {
      // The numbers of the selection come first: two scans at a time would delay them.
      const counts = await summaries.get(params, signal, zoneOf(selection));
      const forms = await formsOf(session, selection.get('survey') ?? '', signal);
      const all = [...params, ...columns];
      const { questions } = await results.get<{ questions: Question[] }>(
        '/responses/questions',
        all,
        signal,
      );
      const titles = new Map(forms.map(({ value, label }) => [value, label]));
      const participants = new Map(counts.forms.map((form) => [form.shortcode, form.participants]));
      return questions.map((question): Asked => {
        const { shortcode } = question;
        const form = formName(titles.get(shortcode) ?? shortcode, shortcode);
        return { question, form, all: participants.get(shortcode) ?? 0 };
      });
    },
    (asked) => {
      const byColumn = Map.groupBy(asked, ({ question }) => question.column);
      const items = isMerged ? [...byColumn.values()] : asked.map((one) => [one]);
      const firsts = new Set(
        isMerged ? [] : asked.filter(({ form }, i) => form !== asked[i - 1]?.form),
      );
      const row = (group: readonly Asked[]) => {
        const [first] = group as readonly [Asked];
        const detail = () => answeredView(session, [...params, ...columns], first.question, signal);
        return html.tbody(
          {},
          firsts.has(first) ? formRow(first) : undefined,
          html.tr(
            {},
            html.td(
              {},
              longText(first.question.question_text),
              html.span('note', html.bdi({}, cut(first.question.question_ref, 80))),
            ),
            html.td({}, ...group.flatMap((one) => answeredBy(one, group.length > 1))),
          ),
          detailRow(detail),
        );
      };
      const words = (group: readonly Asked[]) =>
        group
          .map(
            ({ question: { question_ref, question_text }, form }) =>
              `${form} ${question_ref} ${question_text}`,
          )
          .join(' ');
      const list = html.table({}, html.thead({}, headings(texts.columns)));
      const merge = select('columns', options.columns, selection.get('columns'));
      merge.addEventListener('input', ({ target }) =>
        change({ columns: [(target as HTMLSelectElement).value] }),
      );
      const isShared =
        new Set(asked.map(({ question }) => question.question_ref)).size < asked.length;
      return [
        html.p('note', texts.note),
        isShared ? merge : undefined,
        ...searchableList({ items, row, list, words, texts }),
      ];
    },
    signal,
  );
  const codebook = () =>
    downloads.start(downloadRequestOf(changed(selection, { format: ['codebook'] })));
  return html.div('questions', button(texts.codebook, codebook, { className: 'quiet' }), node);
}

const formRow = ({ form, all }: Asked): HTMLElement =>
  html.tr(
    'form',
    html.th({ scope: 'rowgroup' }, html.bdi({}, cut(form, 120, 1))),
    html.td({}, people(all)),
  );

/** How many of the form's participants answered a question. */
function answeredBy(
  { question: { responses, participants }, form, all }: Asked,
  hasForm: boolean,
): (Node | undefined)[] {
  const share = participants / all;
  // Someone who answers again is one participant.
  const counts = [
    people(participants),
    ...(responses === participants ? [] : [answers(responses)]),
  ];
  if (participants < all) counts.push(texts.others(all - participants));
  return [
    hasForm ? html.span('note', html.bdi({}, cut(form, 120, 1))) : undefined,
    html.span({}, texts.by(share)),
    shareBar(share),
    html.span('note', counts.join(', ')),
  ];
}

/** @param detail what was answered, created when it is opened */
function detailRow(detail: () => HTMLElement): HTMLElement {
  const details = html.details({}, html.summary({}, texts.answered));
  details.addEventListener('toggle', () => details.append(detail()), { once: true });
  return html.tr('detail', html.td({ colSpan: 2 }, details));
}

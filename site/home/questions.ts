import type { Params } from './api.ts';
import type { Question } from './api-types.ts';
import { answeredView } from './answered.ts';
import { button, headings, html, shareBar } from './dom.ts';
import { select } from './controls.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut, longText } from './long-text.ts';
import { formsOf } from './offers.ts';
import { changed, downloadRequestOf, filtersOf, zoneOf } from './selection.ts';
import type { ViewContext } from './view.ts';
import { answers, formName, options, participants as people, questions as texts } from './texts.ts';

/** A question, with the name of its form and the number of the form's participants. */
interface Asked {
  readonly question: Question;
  readonly form: string;
  readonly all: number;
}

/** The questions of the selected answers, by form, or once for all forms that ask them. */
export function questionsView(context: ViewContext): HTMLElement {
  const { session, selection, change, signal } = context;
  const isMerged = selection.get('columns') === 'question';
  const params = filtersOf(selection);
  if (isMerged) params.push(['columns', 'question']);

  const merge = select('columns', options.columns, selection.get('columns'));
  merge.addEventListener('input', ({ target }) =>
    change({ columns: [(target as HTMLSelectElement).value] }),
  );

  const { node } = loaded(
    () => loadQuestions(context, params),
    (asked) => {
      const refs = new Set(asked.map(({ question }) => question.question_ref));
      const body = questionsTable(asked, isMerged, (question) =>
        answeredView(session, params, question, signal),
      );
      return [
        html.p('note', texts.note),
        refs.size < asked.length ? merge : undefined, // several forms ask the same question
        ...body,
      ];
    },
    signal,
  );

  const codebook = () => {
    const file = changed(selection, { format: ['codebook'] });
    return session.downloads.start(downloadRequestOf(file));
  };
  return html.div('questions', button(texts.codebook, codebook, { className: 'quiet' }), node);
}

async function loadQuestions(
  { session, selection, signal }: ViewContext,
  params: Params,
): Promise<Asked[]> {
  const { results, summaries } = session;
  // The numbers of the selection come first: two scans at a time would delay them.
  const counts = await summaries.get(filtersOf(selection), signal, zoneOf(selection));
  const forms = await formsOf(session, selection.get('survey') ?? '', signal);
  const path = '/responses/questions';
  const { questions } = await results.get<{ questions: Question[] }>(path, params, signal);

  const titles = new Map(forms.map(({ value, label }) => [value, label]));
  const participants = new Map(counts.forms.map((form) => [form.shortcode, form.participants]));
  return questions.map((question) => {
    const { shortcode } = question;
    const form = formName(titles.get(shortcode) ?? shortcode, shortcode);
    return { question, form, all: participants.get(shortcode) ?? 0 };
  });
}

/**
 * A table that can be searched.
 *
 * @param isMerged whether a question that several forms ask has one row
 * @param detail what was answered to a question
 */
function questionsTable(
  asked: readonly Asked[],
  isMerged: boolean,
  detail: (question: Question) => HTMLElement,
): HTMLElement[] {
  const byColumn = Map.groupBy(asked, ({ question }) => question.column);
  const items = isMerged ? [...byColumn.values()] : asked.map((one) => [one]);
  const firstsOfForms = new Set(
    isMerged ? [] : asked.filter(({ form }, i) => form !== asked[i - 1]?.form),
  );

  const row = (group: readonly Asked[]) => {
    const [first] = group as readonly [Asked];
    const { question } = first;
    return html.tbody(
      {},
      firstsOfForms.has(first) ? formRow(first) : undefined,
      html.tr(
        {},
        html.td(
          {},
          longText(question.question_text),
          html.span('note', html.bdi({}, cut(question.question_ref, 80))),
        ),
        html.td({}, ...group.flatMap((one) => answeredBy(one, group.length > 1))),
      ),
      detailRow(() => detail(question)),
    );
  };
  const words = (group: readonly Asked[]) =>
    group
      .map(({ question, form }) => `${form} ${question.question_ref} ${question.question_text}`)
      .join(' ');

  const list = html.table({}, html.thead({}, headings(texts.columns)));
  return searchableList({ items, row, list, words, texts });
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

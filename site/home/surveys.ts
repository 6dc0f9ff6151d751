import { type Api, explain } from './api.ts';
import { button, html } from './dom.ts';
import { select } from './controls.ts';
import { type CountRow, countVisible } from './counts.ts';
import { linkNotice } from './link.ts';
import { SEARCHABLE, searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut } from './long-text.ts';
import type { Session } from './session.ts';
import {
  LANGUAGE,
  answers,
  formName,
  moment,
  page,
  participants,
  surveys as texts,
} from './texts.ts';

/** How many of a survey's forms are named in the list. */
const FORMS_NAMED = 3;

/** A form version, as the API describes it. */
export interface FormVersion {
  readonly survey_name: string;
  readonly shortcode: string;
  readonly title: string;
}

interface Survey {
  readonly name: string;
  /** Newest first. */
  readonly versions: readonly FormVersion[];
}

type Sort = keyof typeof texts.sort.choices;

/** Where in the list the user is. */
interface Place {
  query: string;
  sort: Sort;
  /** How many rows are shown. */
  shown: number;
  /** The scroll position in pixels. */
  scroll: number;
  /** The query string of the survey that was opened. */
  opened: string;
}

/** The last place in the list of each key's API. */
const remembered = new WeakMap<Api, Place>();

const collator = new Intl.Collator(LANGUAGE, { numeric: true });

/** They take surveys in order, the newest first. */
const SORTS: Readonly<Record<Sort, (surveys: readonly Survey[]) => readonly Survey[]>> = {
  newest: (surveys) => surveys,
  oldest: (surveys) => surveys.toReversed(),
  name: (surveys) => surveys.toSorted((a, b) => collator.compare(a.name, b.name)),
};

/** The account's surveys. */
export function surveysView(
  { api, results, summaries }: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
): HTMLElement {
  const first: Place = { query: '', sort: 'newest', shown: 0, scroll: 0, opened: '' };
  const place = remembered.get(api) ?? { ...first, ...(history.state as Partial<Place> | null) };
  remembered.set(api, place);
  const count = countVisible(summaries, signal);
  const rows = new Map<Survey, HTMLElement>();
  const row = (survey: Survey) => {
    const found = rows.get(survey) ?? surveyRow(survey, count);
    rows.set(survey, found);
    return found;
  };
  const keepPlace = () => history.replaceState(place, '');
  const words = ({ name, versions }: Survey) =>
    [name, ...versions.map(({ title, shortcode }) => `${title} ${shortcode}`)].join(' ');

  /** Where the user was when the list was left. */
  const returnToPlace = () => {
    scrollTo({ top: place.scroll, behavior: 'instant' });
    [...node.querySelectorAll('a')]
      .find(({ search }) => search === place.opened)
      ?.focus({ preventScroll: true });
    place.opened = '';
    addEventListener('scroll', () => (place.scroll = scrollY), { signal });
    addEventListener('pagehide', keepPlace, { signal });
    return '';
  };

  const { node } = loaded(
    () => results.get<FormVersion[]>('/surveys', [], signal),
    (versions) => {
      if (versions.length === 0) return [html.p({}, texts.none)];
      const byName = Map.groupBy(versions, ({ survey_name }) => survey_name);
      const items = Array.from(byName, ([name, of]) => ({ name, versions: of }));
      const box = html.div({});
      box.addEventListener('click', ({ target }) => {
        place.opened = (target as Element).closest('a')?.search ?? '';
        keepPlace();
      });
      const show = () => {
        const list = html.ul('surveys');
        box.replaceChildren(
          ...searchableList({
            items: SORTS[place.sort](items),
            row,
            list,
            words,
            texts,
            beside: sort,
            memory: place,
          }),
        );
      };
      const sort = select('sort', texts.sort, place.sort);
      sort.addEventListener('input', ({ target }) => {
        Object.assign(place, { sort: (target as HTMLSelectElement).value, shown: 0 });
        show();
      });
      show();
      return [html.p('note', items.length > SEARCHABLE ? '' : texts.order, ' ', texts.zone), box];
    },
    signal,
    { done: returnToPlace },
  );
  return html.section(
    { 'aria-labelledby': 'surveys' },
    html.h1({ id: 'surveys', tabIndex: -1 }, texts.title),
    linkNotice([...selection], new URLSearchParams()),
    node,
  );
}

function surveyRow({ name, versions }: Survey, count: CountRow): HTMLElement {
  const titles = new Map(versions.toReversed().map(({ shortcode, title }) => [shortcode, title]));
  const named = [...titles]
    .slice(0, FORMS_NAMED)
    .flatMap(([shortcode, title], i) => [
      i === 0 ? ' ' : ', ',
      html.bdi({}, formName(cut(title, 60), cut(shortcode, 30))),
    ]);
  const link = html.a(
    { href: `/?${new URLSearchParams({ survey: name })}` },
    html.bdi({}, cut(name, 200)),
  );
  const counts = html.p('counts');
  const showCounts = (...parts: (Node | string)[]) =>
    counts.replaceChildren(...parts.map((part) => html.span({}, part)));
  showCounts(texts.counting);
  const node = html.li(
    {},
    html.div(
      {},
      link,
      html.p(
        'note',
        texts.forms(titles.size, versions.length),
        ...named,
        titles.size > FORMS_NAMED ? texts.moreForms(titles.size - FORMS_NAMED) : undefined,
      ),
    ),
    counts,
  );
  count(node, name, ({ counts: result, error, retry }) => {
    if (result) {
      const { participants: people, responses, last } = result;
      return showCounts(
        participants(people),
        answers(responses),
        last ? texts.last(moment(last)) : '',
      );
    }
    const tryAgain = () => {
      link.focus(); // the button disappears
      showCounts(texts.counting);
      retry();
    };
    return showCounts(
      texts.failed,
      button(page.retry, tryAgain, { className: 'quiet', title: explain(error) }),
    );
  });
  return node;
}

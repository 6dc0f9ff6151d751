import { type Api, type Params, explain } from './api.ts';
import type { FormVersion } from './api-types.ts';
import { button, html } from './dom.ts';
import { select } from './controls.ts';
import { type WhenVisible, visibleRows } from './visible-rows.ts';
import { linkNotice } from './link.ts';
import { SEARCHABLE, searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut } from './long-text.ts';
import type { Session } from './session.ts';
import type { Summary } from './summaries.ts';
import {
  andMore,
  answers,
  collator,
  formName,
  moment,
  page,
  participants,
  surveys as texts,
} from './texts.ts';

/** How many of a survey's forms are named in the list. */
const FORMS_NAMED = 3;

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

/** The account's surveys. */
export function surveysView(
  session: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
): HTMLElement {
  const place = placeOf(session.api);
  const whenVisible = visibleRows(signal);
  const row = (survey: Survey) => surveyRow(survey, session, whenVisible, signal);

  const { node } = loaded(
    () => session.results.get<FormVersion[]>('/surveys', [], signal),
    (versions) => {
      if (versions.length === 0) return [html.p({}, texts.none)];

      const byName = Map.groupBy(versions, ({ survey_name }) => survey_name);
      const surveys = Array.from(byName, ([name, ofSurvey]) => ({ name, versions: ofSurvey }));
      const order = surveys.length > SEARCHABLE ? '' : texts.order;
      return [html.p('note', order, ' ', texts.zone), sortedList(surveys, place, row)];
    },
    signal,
    {
      done() {
        returnTo(place, node, signal);
        return '';
      },
    },
  );
  return html.section(
    { 'aria-labelledby': 'surveys' },
    html.h1({ id: 'surveys', tabIndex: -1 }, texts.title),
    linkNotice([...selection], new URLSearchParams()),
    node,
  );
}

function placeOf(api: Api): Place {
  const first: Place = { query: '', sort: 'newest', shown: 0, scroll: 0, opened: '' };
  const place = remembered.get(api) ?? { ...first, ...(history.state as Partial<Place> | null) };
  remembered.set(api, place);
  return place;
}

const keep = (place: Place) => history.replaceState(place, '');

/** Scrolls to where the user was when the list was left, and keeps where the user goes. */
function returnTo(place: Place, list: HTMLElement, signal: AbortSignal): void {
  scrollTo({ top: place.scroll, behavior: 'instant' });
  const links = [...list.querySelectorAll('a')];
  links.find(({ search }) => search === place.opened)?.focus({ preventScroll: true });
  place.opened = '';

  addEventListener('scroll', () => (place.scroll = scrollY), { signal });
  addEventListener('pagehide', () => keep(place), { signal });
}

function sortedList(
  surveys: readonly Survey[],
  place: Place,
  create: (survey: Survey) => HTMLElement,
): HTMLElement {
  const box = html.div({});
  const rows = new Map<Survey, HTMLElement>();
  const row = (survey: Survey) => {
    const found = rows.get(survey) ?? create(survey);
    rows.set(survey, found);
    return found;
  };
  const words = ({ name, versions }: Survey) =>
    [name, ...versions.map(({ title, shortcode }) => `${title} ${shortcode}`)].join(' ');

  const sort = select('sort', texts.sort, place.sort);
  const show = () => {
    const items =
      place.sort === 'name'
        ? surveys.toSorted((a, b) => collator.compare(a.name, b.name))
        : surveys; // the newest first
    const list = html.ul('surveys');
    box.replaceChildren(
      ...searchableList({ items, row, list, words, texts, beside: sort, memory: place }),
    );
  };
  sort.addEventListener('input', ({ target }) => {
    Object.assign(place, { sort: (target as HTMLSelectElement).value, shown: 0 });
    show();
  });
  box.addEventListener('click', ({ target }) => {
    place.opened = (target as Element).closest('a')?.search ?? '';
    keep(place);
  });

  show();
  return box;
}

function surveyRow(
  { name, versions }: Survey,
  { summaries }: Session,
  whenVisible: WhenVisible,
  signal: AbortSignal,
): HTMLElement {
  const params: Params = [['survey', name]];
  const link = html.a({ href: `/?${new URLSearchParams(params)}` }, html.bdi({}, cut(name, 200)));
  const counts = html.p('counts');
  const node = html.li({}, html.div({}, link, formsNote(versions)), counts);

  const show = (...parts: (Node | string)[]) =>
    counts.replaceChildren(...parts.map((part) => html.span({}, part)));
  const showCounts = ({ participants: people, responses, last }: Summary) =>
    show(participants(people), answers(responses), last ? texts.last(moment(last)) : '');
  const tryAgain = () => {
    link.focus(); // the button disappears
    show(page.counting);
    count();
  };
  const count = () =>
    whenVisible(node, async () => {
      try {
        showCounts(await summaries.get(params, signal));
      } catch (error) {
        const properties = { className: 'quiet', title: explain(error) };
        show(texts.failed, button(page.retry, tryAgain, properties));
      }
    });

  const known = summaries.known(params);
  if (known) showCounts(known);
  else show(page.counting);
  count();
  return node;
}

/** The first forms of a survey, with the titles of their newest versions. */
function formsNote(versions: readonly FormVersion[]): HTMLElement {
  const titles = new Map(versions.toReversed().map(({ shortcode, title }) => [shortcode, title]));
  const named = [...titles]
    .slice(0, FORMS_NAMED)
    .flatMap(([shortcode, title], i) => [
      i === 0 ? ' ' : ', ',
      html.bdi({}, formName(cut(title, 60), cut(shortcode, 30))),
    ]);

  return html.p('note', texts.forms(titles.size), ...named, andMore(titles.size - FORMS_NAMED));
}

import { type Api, explain } from './api.ts';
import { element } from '../shared/dom.ts';
import { type CountRow, countVisible } from './counts.ts';
import { searchableList } from './lists.ts';
import { loaded } from './loaded.ts';
import { cut } from './long-text.ts';
import type { Session } from './session.ts';
import { FRESH } from './summaries.ts';
import { answers, formName, moment, page, participants, surveys as texts } from './texts.ts';

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

/** A list of surveys and its last search. */
interface Memory {
  query: string;
  versions: readonly FormVersion[];
  /** When the versions arrived, in milliseconds of `performance.now()`. */
  at: number;
}

/** The last list and the last search of each key's API. */
const remembered = new WeakMap<Api, Memory>();

/** The account's surveys. */
export function surveysView({ api }: Session, signal: AbortSignal): HTMLElement {
  const memory: Memory = remembered.get(api) ?? { query: '', versions: [], at: -Infinity };
  remembered.set(api, memory);
  const count = countVisible(api, signal);
  const rows = new Map<Survey, HTMLElement>();
  const row = (survey: Survey) => {
    const found = rows.get(survey) ?? surveyRow(survey, count);
    rows.set(survey, found);
    return found;
  };
  const words = ({ name, versions }: Survey) =>
    [name, ...versions.map(({ title, shortcode }) => `${title} ${shortcode}`)].join(' ');

  const { node } = loaded(
    async () => {
      if (performance.now() - memory.at > FRESH)
        Object.assign(memory, {
          versions: await api.json<FormVersion[]>('/surveys', [], signal),
          at: performance.now(),
        });
      return memory.versions;
    },
    (versions) => {
      if (versions.length === 0) return [element('p', {}, texts.none)];
      const items = [...Map.groupBy(versions, ({ survey_name }) => survey_name)].map(([name, of]) => ({
        name,
        versions: of,
      }));
      const list = element('ul', { className: 'surveys' });
      return [
        element('p', { className: 'note' }, texts.order),
        ...searchableList({ items, row, list, words, texts, memory }),
      ];
    },
    signal,
  );
  return element('section', { 'aria-labelledby': 'surveys' }, element('h1', { id: 'surveys' }, texts.title), node);
}

function surveyRow({ name, versions }: Survey, count: CountRow): HTMLElement {
  const titles = new Map(versions.toReversed().map(({ shortcode, title }) => [shortcode, title]));
  const named = [...titles]
    .slice(0, FORMS_NAMED)
    .flatMap(([shortcode, title], i) => [
      i === 0 ? ' ' : ', ',
      element('bdi', {}, formName(cut(title, 60), cut(shortcode, 30))),
    ]);
  const link = element('a', { href: `/?${new URLSearchParams({ survey: name })}` }, element('bdi', {}, cut(name, 200)));
  const counts = element('p', { className: 'counts' });
  const showCounts = (...parts: (Node | string)[]) =>
    counts.replaceChildren(...parts.map((part) => element('span', {}, part)));
  showCounts(texts.counting);
  const node = element(
    'li',
    {},
    element(
      'div',
      {},
      link,
      element(
        'p',
        { className: 'note' },
        texts.forms(titles.size, versions.length),
        ...named,
        titles.size > FORMS_NAMED ? texts.moreForms(titles.size - FORMS_NAMED) : undefined,
      ),
    ),
    counts,
  );
  count(node, name, ({ counts: result, error, retry }) => {
    if (result) {
      const { last } = result;
      return showCounts(
        participants(result.participants),
        answers(result.responses),
        last ? texts.last(moment(last)) : '',
      );
    }
    const button = element('button', { type: 'button', className: 'plain', title: explain(error) }, page.retry);
    button.addEventListener('click', () => {
      link.focus(); // the button disappears
      showCounts(texts.counting);
      retry();
    });
    return showCounts(texts.failed, button);
  });
  return node;
}

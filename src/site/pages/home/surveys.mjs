import { explain } from './api.mjs';
import { element } from '../shared/dom.mjs';
import { FRESH, countVisible } from './counts.mjs';
import { searchableList } from './lists.mjs';
import { loaded } from './loaded.mjs';
import { cut } from './long-text.mjs';
import { moment, page, participants, responses, surveys as texts } from './texts.mjs';

/** How many of a survey's forms are named in the list. */
const FORMS_NAMED = 3;

/** @typedef {{ survey_name: string, shortcode: string, title: string }} FormVersion */
/** @typedef {{ name: string, versions: FormVersion[] }} Survey versions: newest first */

/** The last list and the last search of each key's API. @type {WeakMap<object, { query: string, versions: FormVersion[], at: number }>} */
const remembered = new WeakMap();

/**
 * The account's surveys.
 *
 * @param {import('./main.mjs').Session} session
 * @param {AbortSignal} signal
 */
export function surveysView({ api }, signal) {
  const memory = remembered.get(api) ?? { query: '', versions: [], at: -Infinity };
  remembered.set(api, memory);
  const count = countVisible(api, signal);
  /** @type {Map<Survey, HTMLElement>} */
  const rows = new Map();
  const row = (/** @type {Survey} */ survey) => {
    const found = rows.get(survey) ?? surveyRow(survey, count);
    rows.set(survey, found);
    return found;
  };
  const words = (/** @type {Survey} */ { name, versions }) =>
    [name, ...versions.map(({ title, shortcode }) => `${title} ${shortcode}`)].join(' ');

  const { node } = loaded(
    async () => {
      if (performance.now() - memory.at > FRESH)
        Object.assign(memory, { versions: await api.json('/surveys', [], signal), at: performance.now() });
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

/**
 * @param {Survey} survey
 * @param {ReturnType<typeof countVisible>} count
 */
function surveyRow({ name, versions }, count) {
  const titles = new Map(versions.toReversed().map(({ shortcode, title }) => [shortcode, title]));
  const named = [...titles]
    .slice(0, FORMS_NAMED)
    .flatMap(([shortcode, title], i) => [
      i === 0 ? ' ' : ', ',
      element('bdi', {}, `${cut(title, 60)} (${cut(shortcode, 30)})`),
    ]);
  const link = element('a', { href: `/?${new URLSearchParams({ survey: name })}` }, element('bdi', {}, cut(name, 200)));
  const counts = element('p', { className: 'counts' });
  const showCounts = (/** @type {(Node | string)[]} */ ...parts) =>
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
        responses(result.responses),
        participants(result.participants),
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

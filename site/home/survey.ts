import { html } from './dom.ts';
import { selectionBar } from './filter.ts';
import { downloadView } from './form.ts';
import { linkNotice } from './link.ts';
import { newestView } from './newest.ts';
import { resultsView } from './results/view.ts';
import {
  type Values,
  type View,
  changed,
  filtersOf,
  hrefOf,
  selectionOf,
  viewOf,
} from './selection.ts';
import type { Session } from './session.ts';
import { survey as texts, views } from './texts.ts';
import type { ViewContext } from './view.ts';

/** The delay after the last change before a selection is counted and shown, in milliseconds. */
const REST_MS = 400;

const VIEWS: Readonly<Record<View, (context: ViewContext) => HTMLElement>> = {
  results: resultsView,
  answers: newestView,
  download: downloadView,
};

/**
 * One survey: what is selected of it, and a view of that.
 *
 * @param link the query string of the URL, with `survey`
 */
export function surveyView(
  session: Session,
  link: URLSearchParams,
  signal: AbortSignal,
): HTMLElement {
  const { selection: initial, unused } = selectionOf(link);
  let selection = initial;
  let view = new AbortController();
  let timer = 0;

  const content = html.section({ 'aria-label': views[viewOf(selection)] });
  const tabs = createTabs(viewOf(selection));

  function render(): void {
    view.abort();
    view = new AbortController();
    const current = AbortSignal.any([view.signal, signal]);
    const context = { session, selection, change, signal: current };

    bar.count(current);
    content.replaceChildren(VIEWS[viewOf(selection)](context));
  }

  function change(values: Values): URLSearchParams {
    const before = String(filtersOf(selection));
    selection = changed(selection, values);

    // what was not understood stays in the URL until then
    history.replaceState(null, '', hrefOf(selection));
    tabs.show(selection);
    bar.show(selection);

    // A view follows its own changes.
    if (before !== String(filtersOf(selection))) {
      clearTimeout(timer);
      timer = setTimeout(render, REST_MS);
    }
    return selection;
  }
  signal.addEventListener('abort', () => clearTimeout(timer));

  const bar = selectionBar(session, selection, signal, change);
  tabs.show(selection);
  render();
  return html.article(
    'survey',
    html.div(
      'title',
      html.h1({ tabIndex: -1 }, html.bdi({}, selection.get('survey') ?? '')),
      html.a({ href: '/' }, texts.all),
    ),
    linkNotice(unused, selection),
    bar.element,
    tabs.element,
    content,
  );
}

/** The links to the views of a selection. */
function createTabs(current: View) {
  const tabs = (Object.keys(VIEWS) as View[]).map((view) => {
    const node = html.a({}, views[view]);
    if (view === current) node.setAttribute('aria-current', 'page');
    return { view, node };
  });

  return {
    element: html.nav({ 'aria-label': texts.views }, ...tabs.map(({ node }) => node)),
    show(selection: URLSearchParams): void {
      for (const { view, node } of tabs) node.href = hrefOf(changed(selection, { view: [view] }));
    },
  };
}

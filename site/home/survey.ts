import { html } from './dom.ts';
import { selectionBar } from './filter.ts';
import { downloadView } from './form.ts';
import { linkNotice } from './link.ts';
import { newestView } from './newest.ts';
import { overviewView } from './overview.ts';
import { questionsView } from './questions.ts';
import { type View, changed, filtersOf, hrefOf, selectionOf, viewOf } from './selection.ts';
import type { Session } from './session.ts';
import { survey as texts, views } from './texts.ts';

/** The delay after the last change before a selection is counted and shown, in milliseconds. */
const REST_MS = 400;

/** What a view of a survey shows, and how it changes it. */
export interface ViewContext {
  readonly session: Session;
  /** With `survey`. */
  readonly selection: URLSearchParams;
  /**
   * Changes parameters. The view is created again, except that of downloads if no filter changes.
   * @returns the new selection
   */
  readonly change: (values: Readonly<Record<string, readonly string[]>>) => URLSearchParams;
  readonly signal: AbortSignal;
}

const VIEWS: Readonly<Record<View, (context: ViewContext) => HTMLElement>> = {
  overview: overviewView,
  questions: questionsView,
  answers: newestView,
  download: downloadView,
};

/**
 * One survey: what is selected of it, and a view of that. @param link the query string of the URL,
 * with `survey`
 */
export function surveyView(
  session: Session,
  link: URLSearchParams,
  signal: AbortSignal,
): HTMLElement {
  const { selection: initial, unused } = selectionOf(link);
  let selection = initial;
  let view = new AbortController();
  const content = html.section({ 'aria-label': views[viewOf(selection)] });
  const tabs = (Object.keys(VIEWS) as View[]).map((name) => ({
    name,
    node: html.a({}, views[name]),
  }));
  for (const { name, node } of tabs)
    if (name === viewOf(selection)) node.setAttribute('aria-current', 'page');

  const showLinks = () => {
    for (const { name, node } of tabs) node.href = hrefOf(changed(selection, { view: [name] }));
  };
  const render = () => {
    view.abort();
    view = new AbortController();
    const current = AbortSignal.any([view.signal, signal]);
    bar.count(current);
    content.replaceChildren(
      VIEWS[viewOf(selection)]({ session, selection, change, signal: current }),
    );
  };
  let timer = 0;
  function change(values: Readonly<Record<string, readonly string[]>>): URLSearchParams {
    const before = String(filtersOf(selection));
    selection = changed(selection, values);
    // what was not understood stays in the URL until then
    history.replaceState(null, '', hrefOf(selection));
    showLinks();
    bar.show(selection);
    // The form of a file follows its own changes.
    if (viewOf(selection) !== 'download' || before !== String(filtersOf(selection))) {
      clearTimeout(timer);
      timer = setTimeout(render, REST_MS);
    }
    return selection;
  }
  signal.addEventListener('abort', () => clearTimeout(timer));

  const bar = selectionBar(session, selection, signal, change);
  showLinks();
  render();
  return html.article(
    'survey',
    html.p({}, html.a({ href: '/' }, texts.all)),
    html.h1({ tabIndex: -1 }, html.bdi({}, selection.get('survey') ?? '')),
    linkNotice(unused, selection),
    bar.element,
    html.nav({ 'aria-label': texts.views }, ...tabs.map(({ node }) => node)),
    content,
  );
}

import { ApiError, createApi, explain, isAbort } from './api.ts';
import { createDownloads, sweep } from './downloads.ts';
import { button, html } from './dom.ts';
import icon from '../shared/icon.svg';
import { keepKey, keptKey, otherTabs } from './kept-key.ts';
import { keyView } from './key.ts';
import type { Session } from './session.ts';
import { createResults } from './api-results.ts';
import { createSummaries } from './summaries.ts';
import { surveyView } from './survey.ts';
import { surveysView } from './surveys.ts';
import * as texts from './texts.ts';

let session: Session | undefined;
/** Aborts when another key is entered. */
let entering = new AbortController();
/** Aborts when another view replaces the current one. */
let view = new AbortController();

const main = html.main({ id: 'main', tabIndex: -1 });
const account = html.div('account');
document.documentElement.lang = texts.LANGUAGE;
document.title = texts.page.name;
document.body.append(
  html.a({ className: 'unseen', href: '#main' }, texts.page.skip),
  html.header(
    'top',
    html.img({ src: icon, alt: '', width: 32, height: 32 }),
    html.p('name', texts.page.name),
    // In another tab: this one would lose a key that it does not keep.
    html.a({ href: '/docs', target: '_blank', rel: 'noopener' }, texts.page.reference),
    account,
  ),
  main,
);

/** Shows what the URL names, and moves the focus there: screen readers read what gets it. */
function show(problem?: string): void {
  const isTab = document.activeElement?.closest('nav');
  render(problem);

  let place = isTab ? '[aria-current]' : 'h1';
  if (problem !== undefined) place = '#key';
  main.querySelector<HTMLElement>(place)?.focus({ preventScroll: true });
}

/** Shows what the URL names, one survey or all of them; without a key, the form to enter one. */
function render(problem?: string): void {
  view.abort();
  view = new AbortController();
  const { signal } = view;
  const selection = new URLSearchParams(location.search);
  const survey = selection.get('survey');
  document.title = survey && session ? `${survey} – ${texts.page.name}` : texts.page.name;

  if (!session) main.replaceChildren(keyView({ survey, problem, enter }));
  else if (survey) main.replaceChildren(surveyView(session, selection, signal));
  else main.replaceChildren(session.downloads.element, surveysView(session, selection, signal));
  showAccount();
}

function showAccount(): void {
  if (!session) return account.replaceChildren();

  const forget = () => {
    others.forget();
    forgetAll();
  };
  const { email, expires, limits } = session;
  const { limited, limits: seen } = texts.key;
  account.replaceChildren(
    html.span({ className: 'note', dir: 'auto' }, texts.key.owner(email)),
    expires ? html.span('note', texts.key.expires(expires)) : '',
    limits
      ? html.details('limits note', html.summary({}, limited), html.bdi({}, seen(limits)))
      : '',
    button(texts.key.forget, forget, { className: 'quiet' }),
  );
}

async function enter(key: string, keep: boolean): Promise<void> {
  entering.abort();
  entering = new AbortController();
  const { signal } = entering;
  const api = createApi(key, () => session?.api === api && leave(texts.key.revoked));
  const owner = await api.json<Pick<Session, 'email' | 'expires' | 'limits'>>('/key', [], signal);
  signal.throwIfAborted();

  const results = createResults(api);
  const downloads = createDownloads(api, owner.email);
  session = { ...owner, api, results, summaries: createSummaries(results), downloads };
  keepKey(keep ? key : undefined);
  show();
}

/** Enters a key that a tab keeps. */
function enterKept(key: string): Promise<void> {
  keepKey(key); // another tab that forgets it meanwhile reaches this one
  return enter(key, true).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) leave(texts.key.revoked);
    else if (!session && !isAbort(error)) show(explain(error));
  });
}

/** Forgets the key and everything that was read with it. */
function leave(problem?: string): void {
  session?.downloads.stop();
  session = undefined;
  entering.abort();
  keepKey();
  show(problem);
}

/** Forgets the key, and deletes the files of all accounts, except those that other tabs use. */
function forgetAll(): void {
  const forgotten = session?.downloads.forget();
  history.replaceState(null, '', '/');
  leave();
  void forgotten?.then((all) => all || show(texts.key.notForgotten));
}

/**
 * Follows links to other views, and to places in this one, without loading the page again, which
 * would lose the key. The link that skips to the content does not change the URL.
 */
function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest('a');
  if (!link || link.origin !== location.origin || link.pathname !== '/') return;
  const hasKeys = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (event.button !== 0 || hasKeys) return;

  event.preventDefault();
  if (link.hash === '') {
    history.pushState(null, '', link.href);
    scrollTo({ top: 0, behavior: 'instant' });
    return show();
  }
  const place = document.getElementById(link.hash.slice(1)) ?? main;
  if (place !== main) history.replaceState(history.state, '', link.href);
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

addEventListener('popstate', () => show());
document.addEventListener('click', followLink);
// The second click of a double click would start another download, or press the button that has
// moved under the pointer.
document.addEventListener(
  'click',
  (event) => {
    if (event.detail < 2 || !(event.target as Element).closest('button')) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);

void sweep();
const others = otherTabs({
  key(kept) {
    const field = main.querySelector<HTMLInputElement>('#key');
    if (field?.value === '') void enterKept(kept);
  },
  forget: forgetAll,
});
const ownKey = keptKey();
if (ownKey !== null) {
  main.replaceChildren(html.p('note', texts.page.loading));
  await enterKept(ownKey);
} else show('');

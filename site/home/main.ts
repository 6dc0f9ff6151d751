import { ApiError, createApi, explain } from './api.ts';
import { createDownloads } from './downloads.ts';
import { element } from '../shared/dom.ts';
import icon from '../shared/icon.svg';
import { keyView } from './key.ts';
import type { Session } from './session.ts';
import { surveyView } from './survey.ts';
import { surveysView } from './surveys.ts';
import * as texts from './texts.ts';

const STORED_KEY = 'key';
let session: Session | undefined;
/** Aborts when another key is entered. */
let entering = new AbortController();
/** Aborts when another view replaces the current one. */
let view = new AbortController();

const main = element('main', { id: 'main', tabIndex: -1 });
const account = element('div', { className: 'account' });
document.documentElement.lang = texts.LANGUAGE;
document.title = texts.page.name;
document.body.append(
  element('a', { className: 'skip', href: '#main' }, texts.page.skip),
  element(
    'header',
    { className: 'top' },
    element('img', { src: icon, alt: '', width: 32, height: 32 }),
    element('p', { className: 'name' }, texts.page.name),
    account,
    element('a', { href: '/docs' }, texts.page.reference),
  ),
  main,
);

/** Shows what the URL names, one survey or all of them; without a key, the form to enter one. */
function show(problem?: string): void {
  view.abort();
  view = new AbortController();
  const { signal } = view;
  const selection = new URLSearchParams(location.search);
  const survey = selection.get('survey');
  document.title = survey && session ? `${survey} – ${texts.page.name}` : texts.page.name;
  if (!session) main.replaceChildren(keyView({ survey, problem, enter }));
  else if (survey) main.replaceChildren(surveyView(session, selection, signal));
  else main.replaceChildren(surveysView(session, signal));
  showAccount();
}

function showAccount(): void {
  if (!session) return account.replaceChildren();
  const forget = element('button', { type: 'button', className: 'plain' }, texts.key.forget);
  forget.addEventListener('click', () => {
    const forgotten = session?.downloads.forget();
    history.replaceState(null, '', '/');
    leave();
    void forgotten?.then((all) => all || show(texts.key.notForgotten));
  });
  const { email, expires } = session;
  account.replaceChildren(
    element('span', { className: 'note', dir: 'auto' }, texts.key.owner(email)),
    ' ',
    expires ? element('span', { className: 'note' }, texts.key.expires(expires)) : '',
    ' ',
    forget,
  );
}

async function enter(key: string, keep: boolean): Promise<void> {
  entering.abort();
  entering = new AbortController();
  const { signal } = entering;
  const api = createApi(key, () => session?.api === api && leave(texts.key.revoked));
  const { email, expires } = await api.json<Pick<Session, 'email' | 'expires'>>('/key', [], signal);
  signal.throwIfAborted();
  session = { api, email, expires, downloads: createDownloads({ api, email }) };
  document.body.append(session.downloads.element);
  storeKey(keep ? key : undefined);
  show();
}

/** Stores the key for this tab, or deletes it. If the browser blocks storage, a reload loses it. */
function storeKey(key?: string): void {
  try {
    if (key === undefined) sessionStorage.removeItem(STORED_KEY);
    else sessionStorage.setItem(STORED_KEY, key);
  } catch {}
}

function storedKey(): string | null {
  try {
    return sessionStorage.getItem(STORED_KEY);
  } catch {
    return null;
  }
}

/** Forgets the key and everything that was read with it. */
function leave(problem?: string): void {
  session?.downloads.stop();
  session?.downloads.element.remove();
  session = undefined;
  entering.abort();
  storeKey();
  show(problem);
}

addEventListener('popstate', () => show());
// Links to other views do not load the page again, which would lose the key. Links within a view do not change the URL.
document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest('a');
  if (!link || link.download || link.origin !== location.origin || link.pathname !== '/') return;
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.hash === '') {
    history.pushState(null, '', link.href);
    show();
  }
  const target = document.getElementById(link.hash.slice(1)) ?? main;
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});

const stored = storedKey();
if (stored) {
  main.replaceChildren(element('p', { className: 'note' }, texts.page.loading));
  await enter(stored, true).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) leave(texts.key.revoked);
    else if (!session) show(explain(error));
  });
} else show();

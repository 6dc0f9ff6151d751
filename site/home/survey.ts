import { element } from '../shared/dom.ts';
import { codeView } from './code.ts';
import { downloadForm } from './form.ts';
import { newestView } from './newest.ts';
import { overviewView } from './overview.ts';
import { questionsView } from './questions.ts';
import { downloadRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { form as formTexts, survey as texts } from './texts.ts';

/**
 * One survey: what it contains, and the form to download it.
 *
 * @param selection of the URL, with `survey`
 */
export function surveyView(session: Session, selection: URLSearchParams, signal: AbortSignal): HTMLElement {
  const survey = selection.get('survey') ?? '';
  const code = codeView();
  const form = downloadForm(session, selection, signal, {
    change(chosen) {
      history.replaceState(null, '', `/?${chosen}`);
      const { path, params, file } = downloadRequestOf(chosen);
      code.show({ url: `${location.origin}/api/v1${path}`, pairs: params, file });
    },
    download: (chosen) => session.downloads.start(downloadRequestOf(chosen)),
  });
  return element(
    'article',
    { className: 'survey' },
    element('p', {}, element('a', { href: '/' }, texts.all)),
    element('h1', { dir: 'auto' }, survey),
    element('p', {}, element('a', { href: '#download', className: 'button' }, texts.toDownload)),
    overviewView(session, survey, signal),
    element('section', {}, element('h2', { id: 'download', tabIndex: -1 }, formTexts.title), form, code.element),
    questionsView(session, survey, signal),
    newestView(session, survey, signal),
  );
}

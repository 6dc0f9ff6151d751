import { element } from '../shared/dom.mjs';
import { codeView } from './code.mjs';
import { downloadForm } from './form.mjs';
import { newestView } from './newest.mjs';
import { overviewView } from './overview.mjs';
import { questionsView } from './questions.mjs';
import { downloadRequestOf } from './selection.mjs';
import { form as formTexts, survey as texts } from './texts.mjs';

/**
 * One survey: what it contains, and the form to download it.
 *
 * @param {import('./main.mjs').Session} session
 * @param {URLSearchParams} selection of the URL, with `survey`
 * @param {AbortSignal} signal
 */
export function surveyView(session, selection, signal) {
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

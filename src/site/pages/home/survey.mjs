import { element } from '../shared/dom.mjs';
import { newestView } from './newest.mjs';
import { overviewView } from './overview.mjs';
import { questionsView } from './questions.mjs';
import { survey as texts } from './texts.mjs';

/**
 * One survey: what it contains, and the form to download it.
 *
 * @param {import('./main.mjs').Session} session
 * @param {string} survey its name
 * @param {AbortSignal} signal
 */
export function surveyView(session, survey, signal) {
  return element(
    'article',
    { className: 'survey' },
    element('p', {}, element('a', { href: '/' }, texts.all)),
    element('h1', { dir: 'auto' }, survey),
    overviewView(session, survey, signal),
    questionsView(session, survey, signal),
    newestView(session, survey, signal),
  );
}

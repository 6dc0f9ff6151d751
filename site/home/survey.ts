import { button, html } from '../shared/dom.ts';
import { codeView } from './code.ts';
import { downloadForm } from './form.ts';
import { linkNotice } from './link.ts';
import { loaded } from './loaded.ts';
import { type Answer, newestAnswers, newestView } from './newest.ts';
import { overviewView } from './overview.ts';
import { questionsView } from './questions.ts';
import { downloadRequestOf } from './selection.ts';
import type { Session } from './session.ts';
import { form as formTexts, survey as texts } from './texts.ts';

/**
 * One survey: its numbers, the form to download it, and its newest answers; if it has no answers, one sentence.
 *
 * @param selection of the URL, with `survey`
 */
export function surveyView(session: Session, selection: URLSearchParams, signal: AbortSignal): HTMLElement {
  const { api, summaries } = session;
  const survey = selection.get('survey') ?? '';
  const toDownload = html.a({ href: '#download', className: 'button', hidden: true }, texts.toDownload);
  summaries.keepCounting(survey, signal);

  /** Finds out whether the survey has answers: from its numbers if they are known, otherwise from its newest answers. */
  async function look(): Promise<{ readonly isEmpty: boolean; readonly newest?: Answer[] }> {
    const known = summaries.known(survey); // if it was empty, answers may have arrived
    if (known)
      return { isEmpty: (known.responses || (await summaries.get([['survey', survey]], signal)).responses) === 0 };
    const newest = await newestAnswers(api, survey, signal);
    return { isEmpty: newest.length === 0, newest };
  }
  const { node, reload } = loaded(
    look,
    ({ newest, isEmpty }) => {
      toDownload.hidden = isEmpty;
      if (!isEmpty) return surveyParts(session, selection, signal, newest);
      const check = () => {
        summaries.forget(survey);
        node.focus(); // the button may disappear
        void reload();
      };
      return [html.p({}, texts.empty), button(texts.check, check)];
    },
    signal,
  );
  return html.article(
    'survey',
    html.p({}, html.a({ href: '/' }, texts.all)),
    html.div('title', html.h1({ dir: 'auto' }, survey), toDownload),
    node,
  );
}

/** The parts of a survey that has answers. @param newest if they are known */
function surveyParts(
  session: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
  newest?: Answer[],
): (Node | undefined)[] {
  const survey = selection.get('survey') ?? '';
  const code = codeView();
  let notice: HTMLElement | undefined;
  let isFirst = true;
  const overview = overviewView(session, survey, signal, (days) => form.selectDays(days));
  const form = downloadForm(session, selection, signal, (chosen, days) => {
    if (isFirst) notice = linkNotice(selection, chosen);
    // What was not understood stays in the URL until the user has changed something.
    if (!isFirst || !notice) history.replaceState(null, '', `/?${chosen}`);
    isFirst = false;
    overview.showDays(days);
    const { path, params, file } = downloadRequestOf(chosen);
    code.show({ url: `${location.origin}/api/v1${path}`, pairs: params, file });
  });
  return [
    notice,
    overview.element,
    html.section({}, html.h2({ id: 'download', tabIndex: -1 }, formTexts.title), form.element, code.element),
    newestView(session, survey, signal, newest),
    questionsView(session, survey, signal),
  ];
}

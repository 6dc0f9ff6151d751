import { html } from '../dom.ts';
import { loaded } from '../loaded.ts';
import type { ViewContext } from '../view.ts';
import { results as texts } from '../texts.ts';
import { countAnswers } from './answers.ts';
import { loadAsked, unfilteredBy } from './asked.ts';
import { formsView } from './forms.ts';
import { daysView, glanceView } from './glance.ts';
import { parameterOf } from './split.ts';

/** How many answers there are, when they came, and what was answered, in the order of requests. */
export const resultsView = (context: ViewContext): HTMLElement =>
  html.div(
    'results',
    html.div('summary', glanceView(context), daysView(context)),
    questionsView(context),
  );

/** The questions of the selection, form after form. */
function questionsView(context: ViewContext): HTMLElement {
  const { session, selection, signal } = context;
  const render = ({ asked: all, keys }: Awaited<ReturnType<typeof loadAsked>>) => {
    const refs = selection.getAll('question_ref');
    const [first, ...others] = all.filter(
      ({ question_ref: ref }) => refs.length === 0 || refs.includes(ref),
    );
    return first ? formsView(context, all, [first, ...others], keys) : [];
  };

  // What was answered is counted first. A question to split by has no column yet.
  const split = selection.get('by') ?? '';
  const options = { session, params: unfilteredBy(selection), by: parameterOf(split, []), signal };
  if (!split.startsWith('question')) countAnswers(options).catch(() => {});
  return loaded(() => loadAsked(context), render, signal, {
    shape: 'forms',
    done: showLinked,
  }).node;
}

/** Moves to the question that the link names. @returns a sentence if it is not shown */
function showLinked(): string {
  const name = location.hash.slice(1);
  const card = document.getElementById(name);
  card?.scrollIntoView({ behavior: 'instant' });
  return card || name === '' ? '' : texts.noQuestion;
}

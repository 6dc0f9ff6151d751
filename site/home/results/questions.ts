import { html } from '../dom.ts';
import { loaded } from '../loaded.ts';
import { metadataKeys } from '../offers.ts';
import type { ViewContext } from '../view.ts';
import { results as texts } from '../texts.ts';
import { type Asked, loadAsked } from './asked.ts';
import { formsView } from './forms.ts';

/** The questions of the selection, form after form, each with what was answered. */
export function questionsView(context: ViewContext): HTMLElement {
  const { session, selection, signal } = context;
  const survey = selection.get('survey') ?? '';
  const request = () => Promise.all([loadAsked(context), metadataKeys(session, survey, signal)]);

  const render = ([all, keys]: Awaited<ReturnType<typeof request>>) => {
    const wanted = selection.getAll('question_ref');
    const isWanted = ({ question }: Asked) => wanted.includes(question.question_ref);
    const asked = wanted.length === 0 ? all : all.filter(isWanted);
    return asked.length === 0 ? [] : [...formsView({ context, all, asked, keys }), howCounted()];
  };
  return loaded(request, render, signal, { shape: 'forms', done: showLinked }).node;
}

const howCounted = () =>
  html.details(
    {},
    html.summary({}, texts.how),
    html.ul('note', ...texts.rules.map((rule) => html.li({}, rule))),
  );

/** Moves to the question that the link names. @returns a sentence if it is not shown */
function showLinked(): string {
  const name = location.hash.slice(1);
  const card = document.getElementById(name);
  card?.scrollIntoView({ behavior: 'instant' });
  return card || name === '' ? '' : texts.noQuestion;
}

import { copyButton, html } from '../dom.ts';
import { loaded } from '../loaded.ts';
import { longText } from '../long-text.ts';
import { results as texts } from '../texts.ts';
import { type Part, answeredView, areNumbers } from './answered.ts';
import type { AnswerSource, Groups } from './answers.ts';
import type { Asked } from './asked.ts';
import { tableText } from './bars.ts';
import { questionName } from './split.ts';

/** How the answers to questions are shown. */
export interface Shown {
  readonly source: AnswerSource;
  /** The questions to show beside each other with one of them. */
  readonly beside: (asked: Asked) => readonly Asked[];
  /** The groups that answers are split into; undefined if they are not. */
  readonly partsOf: (found: Groups) => readonly Part[] | undefined;
  readonly signal: AbortSignal;
}

export interface Card {
  readonly node: HTMLElement;
  readonly show: (shown: Shown) => void;
}

/** A question of a form, and what was answered to it. */
export function questionCard(asked: Asked): Card {
  const { question, form } = asked;
  const name = questionName(question);
  const body = html.div({}, html.div('shape picture'));
  const head = html.header(
    {},
    html.h3({}, longText(stemOf(asked))),
    html.p(
      'note',
      html.bdi({}, question.question_ref),
      ' · ',
      texts.answeredBy(question.participants, form.participants),
    ),
  );
  const link = () => new URL(`#${name}`, location.href).href;
  const table = () => `${question.question_text.replace(/\s+/g, ' ')}\n${tableText(body)}`;

  return {
    node: html.article(
      { id: name, className: 'card', tabIndex: -1 },
      head,
      body,
      html.div(
        'buttons',
        copyButton(table, texts.what, texts.copyTable),
        copyButton(link, texts.toQuestion, texts.copyLink),
      ),
    ),
    show: (shown) => body.replaceChildren(picturesOf(asked, shown)),
  };
}

/** What was asked, without the choices, which the answers show. */
function stemOf({ question: { question_text: text, choices, question_ref } }: Asked): string {
  const labels = choices?.map(({ label }) => label) ?? [];
  const lines = text
    .split('\n')
    .filter((line, i) => i === 0 || !labels.some((label) => line.trimEnd().endsWith(label)));
  return lines.join('\n').trim() || question_ref;
}

/** What was answered, in the groups of a split, or in all forms that ask the same question. */
function picturesOf(asked: Asked, { source, beside, partsOf, signal }: Shown): HTMLElement {
  const count = async (one: Asked) => {
    const found = await source.get(one.question);
    const { all, answered } = found;
    // Numbers are divided into groups here, which takes all of them.
    const needsAll =
      answered && answered.other > 0 && partsOf(all) && areNumbers(answered, one.question.choices);
    return { one, ...(needsAll ? await source.getAll(one.question) : found) };
  };
  const request = () => Promise.all(beside(asked).map(count));

  const render = (counted: Awaited<ReturnType<typeof request>>) => {
    const views = counted.map(({ one: { question, form }, all, answered }) => {
      const title = counted.length > 1 ? { title: form.name } : {};
      const parts = partsOf(all) ?? [title];
      if (!answered || parts.length === 0) return html.p('note', texts.none);
      return answeredView({
        answered,
        choices: question.choices,
        parts,
        arePeople: answered.records === question.participants,
        getAll: async () => (await source.getAll(question)).answered,
        signal,
      });
    });
    return [html.div(views.length > 1 ? 'parts' : '', ...views)];
  };
  return loaded(request, render, signal, { shape: 'picture' }).node;
}

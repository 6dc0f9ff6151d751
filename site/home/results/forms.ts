import { field } from '../controls.ts';
import type { Choice } from '../choices.ts';
import { html, whenReached } from '../dom.ts';
import { SEARCHABLE, matcher } from '../lists.ts';
import { cut } from '../long-text.ts';
import type { ViewContext } from '../view.ts';
import { lists, participants, results as texts } from '../texts.ts';
import { answerSource } from './answers.ts';
import { type Asked, unfilteredBy } from './asked.ts';
import { type Card, questionCard } from './card.ts';
import { funnelRow, funnelTable } from './funnel.ts';
import { groupsNote, partsOf } from './groups.ts';
import { BY_FORM, kindOf, parameterOf } from './split.ts';
import { splitControl } from './split-control.ts';

/** A question, its row in the funnel, and its card. */
interface Item {
  readonly asked: Asked;
  readonly row: HTMLElement;
  readonly card: Card;
}

interface FormsOptions {
  readonly context: ViewContext;
  /** The questions with answers. */
  readonly all: readonly Asked[];
  /** Those that are shown, at least one. */
  readonly asked: readonly Asked[];
  /** Metadata keys to split by. */
  readonly keys: readonly Choice[];
}

/** Each form, with its funnel and its questions; above them, a split and a search. */
export function formsView({ context, all, asked, keys }: FormsOptions): HTMLElement[] {
  const { session, selection, change, signal } = context;
  const items = asked.map((one) => ({
    asked: one,
    row: funnelRow(one),
    card: questionCard(one),
  }));
  const byForm = Map.groupBy(items, (item) => item.asked.form);
  const sections = Array.from(byForm.values(), formSection);
  const forms = html.div({}, ...sections);
  const groups = html.div({});
  let round = new AbortController();

  /** Shows all answers. @param showsAll also the groups of one record */
  function show(split: string, showsAll = false): void {
    round.abort();
    round = new AbortController();
    const current = AbortSignal.any([signal, round.signal]);
    const by = parameterOf(
      split,
      all.map(({ question }) => question),
    );
    const source = answerSource({
      session,
      params: unfilteredBy(selection),
      questions: asked.map(({ question }) => question),
      isEvery: asked.length === all.length,
      by,
      signal: current,
    });

    const [first] = asked as readonly [Asked];
    const note = () =>
      groupsNote(
        () => source.get(first.question),
        showsAll,
        () => show(split, true),
        current,
      );
    const isUnknown = by === undefined && kindOf(split)[0] === 'question';
    groups.replaceChildren(by === undefined ? '' : note(), isUnknown ? texts.noQuestion : '');
    forms.classList.toggle('split', split !== '');

    const shown = {
      source,
      beside: (one: Asked) => (split === BY_FORM ? sameQuestion(one, asked) : [one]),
      partsOf: (found: Parameters<typeof partsOf>[0]) => partsOf(found, showsAll),
      signal: current,
    };
    for (const { card } of items) whenReached(card.node, () => card.show(shown), current);
  }

  const choose = (split: string) => {
    change({ by: [split] });
    show(split);
  };
  const split = selection.get('by') ?? '';
  const control = splitControl({ split, asked: all, keys, limits: session.limits, choose });
  const search = items.length > SEARCHABLE ? searchField(items, sections) : [];
  show(split);
  return [html.div('fields', ...control, ...search), groups, forms];
}

const sameQuestion = ({ question }: Asked, asked: readonly Asked[]) =>
  asked.filter((other) => other.question.question_ref === question.question_ref);

function formSection(items: readonly Item[]): HTMLElement {
  const [{ asked }] = items as readonly [Item];
  const { name, participants: count } = asked.form;
  return html.section(
    'form',
    html.div(
      'overview',
      html.h2({}, html.bdi({}, cut(name, 120, 1))),
      html.p('note', participants(count)),
      funnelTable(items.map(({ row }) => row)),
    ),
    html.div('cards', ...items.map(({ card }) => card.node)),
  );
}

/** A field that hides the questions, and the forms, that do not match. */
function searchField(items: readonly Item[], sections: readonly HTMLElement[]): HTMLElement[] {
  const input = html.input({ type: 'search', autocomplete: 'off', spellcheck: false });
  const found = html.p({ className: 'note', role: 'status' });
  const matches = matcher(
    items,
    ({ asked: { form, question } }) =>
      `${form.name} ${question.question_ref} ${question.question_text}`,
  );

  input.addEventListener('input', () => {
    const matching = new Set(matches(input.value));
    for (const item of items) item.row.hidden = item.card.node.hidden = !matching.has(item);
    for (const node of sections) node.hidden = !node.querySelector('.card:not([hidden])');
    const count = texts.count(items.length);
    found.textContent = input.value.trim() ? lists.found(matching.size, count) : count;
  });
  return [field(texts.label, input), found];
}

import type { Params } from '../api.ts';
import { field } from '../controls.ts';
import { button, html, table, whenReached } from '../dom.ts';
import { SEARCHABLE, matcher } from '../lists.ts';
import { loaded } from '../loaded.ts';
import { cut } from '../long-text.ts';
import { changed, hrefOf, zoneOf } from '../selection.ts';
import type { ViewContext } from '../view.ts';
import {
  collator,
  lists,
  number,
  participants,
  results as texts,
  split as splitTexts,
} from '../texts.ts';
import { type Answers, createCounter } from './answers.ts';
import { type Asked, unfilteredBy } from './asked.ts';
import { setShare } from './bars.ts';
import { questionCard } from './card.ts';
import { parameterOf, partsOfSplit, questionName } from './split.ts';
import { splitControl } from './split-control.ts';

type Item = ReturnType<typeof createItem>;

/** A question, with its row in the funnel, and its card. */
const createItem = (asked: Asked) => ({ asked, row: funnelRow(asked), card: questionCard(asked) });

/**
 * Each form, with its funnel and its questions; above them, a split and a search.
 *
 * @param all the questions with answers
 * @param asked those that are shown
 * @param keys metadata keys to split by
 */
export function formsView(
  context: ViewContext,
  all: readonly Asked[],
  asked: readonly [Asked, ...Asked[]],
  keys: readonly string[],
): HTMLElement[] {
  const { session, change, signal } = context;
  let { selection } = context;
  const params = unfilteredBy(selection);
  const items = asked.map(createItem);
  const byForm = Map.groupBy(items, (item) => item.asked.form);
  const sections = Array.from(byForm.values(), formSection);
  const forms = html.div({}, ...sections);
  const note = html.div({});
  let round = new AbortController();

  /** Shows all answers again. @param isAll also the groups of one record */
  function show(split: string, isAll = false): void {
    round.abort();
    round = new AbortController();
    const current = AbortSignal.any([signal, round.signal]);
    const [kind] = partsOfSplit(split);
    const by = parameterOf(split, all);
    const count = createCounter({ session, params, by, signal: current });

    const groupsNote = ({ groups = [], other_groups = 0, ungrouped = 0 }: Answers) => {
      const hidden = isAll ? 0 : groups.filter(({ records }) => records === 1).length;
      const showAll = () => show(split, true);
      return [
        html.p('note', splitTexts.groups(groups.length, other_groups, ungrouped, hidden)),
        hidden > 0 ? button(splitTexts.showAll, showAll, { className: 'quiet' }) : undefined,
      ];
    };
    note.replaceChildren(
      by ? loaded(() => count(asked[0]), groupsNote, current).node : '',
      kind === 'question' && !by ? texts.noQuestion : '',
    );
    forms.classList.toggle('split', split !== '');

    const shown = {
      count,
      beside: (one: Asked) =>
        kind === 'form' ? asked.filter((other) => other.question_ref === one.question_ref) : [one],
      partsOf: ({ groups }: Answers) =>
        groups
          ?.map(({ value, records }, group) => ({
            title: cut(value, 60, 1) || texts.empty,
            group,
            records,
          }))
          .filter(({ records }) => records > 1 || isAll)
          .toSorted((a, b) => (kind === 'question' ? 0 : collator.compare(a.title, b.title))),
      signal: current,
    };
    for (const { card } of items) whenReached(card.node, () => card.show(shown), current);
  }

  const choose = (split: string) => {
    selection = change({ by: [split] });
    show(split);
  };

  const download = html.a({ className: 'button main chosen', hidden: true });
  forms.addEventListener('input', () => {
    const chosen = items.filter(({ row }) => row.box.checked);
    const refs = new Set(chosen.map((item) => item.asked.question_ref));
    const file = changed(selection, { view: ['download'], question_ref: [...refs] });
    Object.assign(download, {
      hidden: refs.size === 0,
      textContent: texts.download(refs.size),
      href: hrefOf(file),
    });
  });

  const split = selection.get('by') ?? '';
  const { limits } = session;
  show(split);

  const stops: Params = [...params, ['stops', 'true']];
  const last = loaded(
    () => session.summaries.get(stops, signal, zoneOf(selection)),
    (counted) => {
      const counts = new Map(counted.stops?.map((stop) => [questionName(stop), stop.participants]));
      for (const item of items) item.row.showLast(counts.get(questionName(item.asked)) ?? 0);
      return [];
    },
    signal,
    { loading: () => '' },
  );
  const rules = texts.rules.map((rule) => html.li({}, rule));
  return [
    html.div(
      'fields',
      ...splitControl({ split, asked: all, keys, limits, choose }),
      ...(items.length > SEARCHABLE ? searchField(items, sections) : []),
      html.details({}, html.summary({}, texts.how), html.ul('note', ...rules)),
    ),
    note,
    last.node,
    forms,
    download,
  ];
}

function formSection(items: readonly Item[]): HTMLElement {
  const [{ asked }] = items as readonly [Item];
  const { name, participants: count } = asked.form;
  return html.section(
    'form',
    html.div(
      'overview',
      html.h2({}, html.bdi({}, cut(name, 120, 1))),
      html.p('note', participants(count)),
      table(
        texts.funnel,
        items.map(({ row }) => row.node),
        'funnel',
      ),
    ),
    html.div('cards', ...items.map(({ card }) => card.node)),
  );
}

/**
 * How many answered a question, with a link to it, and how many have their last answer there. The
 * box chooses the question for a file.
 */
function funnelRow(asked: Asked) {
  const { participants: count, question_text: text, question_ref: ref, form } = asked;
  const share = count / form.participants;
  const bar = setShare(html.div('share'), share);
  const last = html.td({}, '…');

  const name = cut(text, 120, 1) || ref;
  const box = html.input({ type: 'checkbox', 'aria-label': name });
  const link = html.a({ href: `#${questionName(asked)}` }, html.bdi({}, name));
  const node = html.tr(
    {},
    html.th({ scope: 'row' }, html.div('choice', box, link), bar),
    html.td({}, number(count), html.span('note', texts.share(share))),
    last,
  );
  return {
    node,
    box,
    showLast(stops: number): void {
      last.textContent = number(stops);
      setShare(bar, (count - stops) / form.participants, 'kept');
    },
  };
}

/** A field that hides the questions, and the forms, that do not match. */
function searchField(items: readonly Item[], sections: readonly HTMLElement[]): HTMLElement[] {
  const input = html.input({ type: 'search', autocomplete: 'off', spellcheck: false });
  const found = html.p({ className: 'note', role: 'status' });
  const matches = matcher(items, ({ asked: { form, question_ref, question_text } }) =>
    [form.name, question_ref, question_text].join(' '),
  );

  input.addEventListener('input', () => {
    const matching = new Set(matches(input.value));
    for (const item of items) item.row.node.hidden = item.card.node.hidden = !matching.has(item);
    for (const node of sections) node.hidden = !node.querySelector('.card:not([hidden])');
    found.textContent = lists.found(matching.size, texts.count(items.length));
  });
  return [field(texts.label, input), found];
}

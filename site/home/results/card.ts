import { copyButton, html } from '../dom.ts';
import { loaded } from '../loaded.ts';
import { longText } from '../long-text.ts';
import { results as texts } from '../texts.ts';
import type { Answers, Count } from './answers.ts';
import type { Asked } from './asked.ts';
import { tableText } from './bars.ts';
import { numbersView } from './numbers.ts';
import { type Part, areNumbers } from './parts.ts';
import { questionName } from './split.ts';
import { valuesView } from './values.ts';

/** The most forms side by side. The API has as many groups. */
const PARTS = 20;

/** How answers are shown. */
export interface Shown {
  readonly count: Count;
  /** The questions to show side by side. */
  readonly beside: (asked: Asked) => readonly Asked[];
  /** The groups that answers are split into; undefined if they are not. */
  readonly partsOf: (answers: Answers) => readonly Part[] | undefined;
  readonly signal: AbortSignal;
}

/** A question of a form, and a place for what was answered to it. */
export function questionCard(asked: Asked) {
  const { question_ref: ref, participants, form } = asked;
  const id = questionName(asked);
  const body = html.div({}, html.div('shape'));
  const link = () => new URL(`#${id}`, location.href).href;
  const table = () => `${stemOf(asked).replace(/\s+/g, ' ')}\n${tableText(body)}`;

  const node = html.article(
    { id, className: 'card', tabIndex: -1 },
    html.h3({}, longText(stemOf(asked))),
    html.p('note', html.bdi({}, ref), ' · ', texts.answeredBy(participants, form.participants)),
    body,
    html.div(
      'buttons',
      copyButton(table, texts.what, texts.copyTable),
      copyButton(link, texts.toQuestion, texts.copyLink),
    ),
  );
  return { node, show: (shown: Shown) => body.replaceChildren(answersView(asked, shown)) };
}

/** What was asked, without the choices, which the answers show. */
function stemOf({ question_text: text, choices, question_ref }: Asked): string {
  const isChoice = (line: string) => choices?.some(({ label }) => line.trimEnd().endsWith(label));
  const [first = '', ...lines] = text.split('\n');
  return [first, ...lines.filter((line) => !isChoice(line))].join('\n').trim() || question_ref;
}

/** What was answered, in the groups of a split, or in all forms that ask the same. */
function answersView(asked: Asked, { count, beside, partsOf, signal }: Shown): HTMLElement {
  const find = async (one: Asked) => {
    const { choices, participants, form } = one;
    const own = ({ questions }: Answers, { column } = one) =>
      questions.find((other) => other.column === column);
    const getAll = async () => own(await count(one, true));
    const counted = await count(one);
    const [some, parts] = [own(counted), partsOf(counted)];
    if (!some || some.records === 0 || parts?.length === 0) return html.p('note', texts.none);

    const isNumeric = areNumbers(some, choices);
    // to divide numbers into groups takes all of them
    const answered = (isNumeric && parts && some.other > 0 && (await getAll())) || some;
    return (isNumeric ? numbersView : valuesView)({
      answered,
      choices,
      parts: parts ?? [isAlone ? {} : { title: form.name }],
      arePeople: answered.records === participants,
      beside: asking.map((other) => own(counted, other) ?? answered),
      getAll,
      signal,
    });
  };

  const asking = beside(asked);
  const isAlone = asking.length === 1;
  const others = asking.slice(PARTS).map(({ form }) => form.name);
  return loaded(
    () => Promise.all(asking.slice(0, PARTS).map(find)),
    (views) => [
      html.div(isAlone ? '' : 'parts', ...views),
      others.length > 0 ? html.p('note', texts.others(others)) : undefined,
    ],
    signal,
    { shape: 'picture' },
  ).node;
}

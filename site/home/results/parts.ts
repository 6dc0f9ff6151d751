import type { Question } from '../api-types.ts';
import { html } from '../dom.ts';
import { results as texts } from '../texts.ts';
import type { Answered, Value } from './answers.ts';

/** What a picture shows: a group of the records with an answer or, without `group`, all of them. */
export interface Part {
  readonly title?: string;
  /** Its number among the groups. */
  readonly group?: number;
}

/** The answers to a question, to be drawn. */
export interface Drawing {
  readonly answered: Answered;
  readonly choices: Question['choices'];
  /** What is side by side. */
  readonly parts: readonly Part[];
  /** Whether each record is another participant, so that denominators can be called so. */
  readonly arePeople: boolean;
  /** The answers in all forms that are side by side, on one scale. */
  readonly beside: readonly Answered[];
  /** Counts it again, with all values that the API lists. */
  readonly getAll: () => Promise<Answered | undefined>;
  readonly signal: AbortSignal;
}

/** How many records of a part have an answer, or one value. */
export const countIn = ({ group }: Part, { records, groups }: Answered | Value): number =>
  group === undefined ? records : (groups?.[group] ?? 0);

/** Whether most of the answers to a question are numbers. */
export const areNumbers = ({ numbers, records }: Answered, choices: Question['choices']): boolean =>
  choices === null && numbers !== null && 2 * numbers.records > records;

/**
 * The pictures of all parts, side by side, each below its name and its denominator.
 *
 * @param countsOf the records of each bar of a part
 * @param draw a part's picture
 */
export function sideBySide(
  { answered, parts, arePeople, beside }: Drawing,
  countsOf: (part: Part) => readonly number[],
  draw: (counts: readonly number[], all: number, most: number) => HTMLElement,
): HTMLElement {
  const counted = parts.map((part) => ({
    title: part.title ?? '',
    all: countIn(part, answered),
    counts: countsOf(part),
  }));
  /** The share that the longest bar shows. */
  const most = Math.max(
    ...beside.map(({ records, values }) => (values[0]?.records ?? 0) / records),
    ...counted.flatMap(({ counts, all }) => counts.map((count) => count / all || 0)),
  );

  const views = counted.map(({ title, all, counts }) => {
    const of = html.span('cell note', texts.of(all, arePeople));
    const head = html.p('row', html.bdi('cell', title), of);
    return html.div({}, head, all > 0 ? draw(counts, all, most) : undefined);
  });
  return html.div('parts', ...views);
}

import { html } from '../dom.ts';
import type { Question } from '../api-types.ts';
import { results as texts } from '../texts.ts';
import type { Answered, Value } from './answers.ts';
import { numbersView } from './numbers.ts';
import { valuesView } from './values.ts';

/** What a picture shows: a group of the records with an answer or, without `group`, all of them. */
export interface Part {
  readonly title?: string;
  /** Its number among the groups. */
  readonly group?: number;
}

export interface AnsweredOptions {
  readonly answered: Answered;
  readonly choices: Question['choices'];
  /** What to show side by side. */
  readonly parts: readonly Part[];
  /** Whether each record is another participant, so that denominators can be called so. */
  readonly arePeople: boolean;
  /** Counts it again, with all values that the API lists. */
  readonly getAll: () => Promise<Answered | undefined>;
  readonly signal: AbortSignal;
}

/** How many records of a part have an answer, or one value. */
export const countIn = ({ group }: Part, { records, groups }: Answered | Value): number =>
  group === undefined ? records : (groups?.[group] ?? 0);

/** What was answered to a question, drawn: choices and texts as bars, numbers as a histogram. */
export function answeredView(options: AnsweredOptions): HTMLElement {
  const { answered, choices } = options;
  if (answered.records === 0) return html.p('note', texts.none);
  return areNumbers(answered, choices) ? numbersView(options) : valuesView(options);
}

/** Whether most of the answers to a question are numbers. */
export const areNumbers = ({ numbers, records }: Answered, choices: Question['choices']): boolean =>
  choices === null && numbers !== null && 2 * numbers.records > records;

/**
 * The pictures of all parts, side by side, each below its name and its denominator.
 *
 * @param draw the picture of a part, with so many records
 */
export function sideBySide(
  { answered, parts, arePeople }: AnsweredOptions,
  draw: (part: Part, all: number) => HTMLElement,
): HTMLElement {
  const views = parts.map((part) => {
    const all = countIn(part, answered);
    const head = html.p(
      'row',
      html.bdi('cell', part.title ?? ''),
      html.span('cell note', texts.of(all, arePeople)),
    );
    return html.div({}, head, all > 0 ? draw(part, all) : undefined);
  });
  return html.div('parts', ...views);
}

/** The largest share that a bar shows, of all parts. */
export const largestShare = (
  { answered, parts }: AnsweredOptions,
  countsOf: (part: Part) => readonly number[],
): number =>
  Math.max(
    ...parts.flatMap((part) => countsOf(part).map((count) => count / countIn(part, answered) || 0)),
  );

import { ApiError, type Params } from '../api.ts';
import type { Question } from '../api-types.ts';
import type { Session } from '../session.ts';

/** How many values of a question are listed at first, and the most that the API lists. */
const [SOME, ALL] = ['30', '1000'];

/** A value, and how many records have it, also of each group. */
export interface Value {
  readonly value: string;
  readonly records: number;
  readonly groups?: readonly number[];
}

/** The numbers among the values. Those in texts are decimals of any length. */
export interface Numbers extends Readonly<
  Record<'min' | 'q1' | 'median' | 'q3' | 'max' | 'sum', string>
> {
  readonly records: number;
  /** From one bin to the next; null if all numbers are equal. */
  readonly step: string | null;
  readonly bins: readonly { readonly from: string; readonly records: number }[];
}

/** What was answered to a question, as the API describes it. */
export interface Answered {
  readonly column: string;
  readonly records: number;
  /** How many different values there are. */
  readonly distinct: number;
  /** The most frequent first. */
  readonly values: readonly Value[];
  /** How many records have other values. */
  readonly other: number;
  /** Null if there are none. */
  readonly numbers: Numbers | null;
  /** Its records in each group. */
  readonly groups?: readonly number[];
}

/** What was answered to some questions. The groups are those of a split. */
export interface Answers {
  readonly groups?: readonly { readonly value: string; readonly records: number }[];
  readonly ungrouped?: number;
  readonly other_groups?: number;
  readonly questions: readonly Answered[];
}

/** Counts what was answered to a question: with all others, in one scan, or alone, with all values. */
export type Count = (question: Question, isAll?: boolean) => Promise<Answers>;

interface CounterOptions {
  readonly session: Session;
  /** The selection. */
  readonly params: Params;
  /** What answers are split by, as the API's parameter. */
  readonly by: string | undefined;
  readonly signal: AbortSignal;
}

/** Counts what was answered to some columns, by default all. */
export function countAnswers(
  { session, params, by, signal }: CounterOptions,
  columns: readonly string[] = [],
  top = SOME,
): Promise<Answers> {
  const wanted = { value: 'translated_label', numbers: 'true', top, ...(by && { by }) };
  const named = columns.map((name): [string, string] => ['column', name]);
  const query = [...params, ...Object.entries(wanted), ...named];
  return session.results.get('/responses/answers', query, signal);
}

export function createCounter(options: CounterOptions): Count {
  let all: Promise<Answers> | undefined;

  return async ({ column }, isAll) => {
    if (isAll) return countAnswers(options, [column], ALL);
    try {
      return await (all ??= countAnswers(options));
    } catch (error) {
      const isTooLarge = error instanceof ApiError && error.code === 'export_too_large';
      if (isTooLarge) return countAnswers(options, [column]);
      all = undefined;
      throw error;
    }
  };
}

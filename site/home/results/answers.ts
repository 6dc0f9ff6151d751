import type { Params } from '../api.ts';
import type { Question } from '../api-types.ts';
import type { Session } from '../session.ts';

/** The most columns that the API takes by name, and the most characters of their names: URLs are limited. */
const COLUMNS = 50;
const NAMES_LENGTH = 4000;
/** How many values of a question are listed at first, and the most that the API lists. */
const [SOME, ALL] = ['30', '1000'];

/** How many records have a value, also of each group. */
export interface Value {
  readonly value: string;
  readonly records: number;
  readonly groups?: readonly number[] | undefined;
}

/** The numbers among the values, as decimals in texts. */
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

export interface Group {
  readonly value: string;
  readonly records: number;
}

/** The groups of a split, as the API describes them; absent without one. */
export interface Groups {
  readonly groups?: readonly Group[];
  readonly ungrouped?: number;
  readonly other_groups?: number;
}

interface Answers extends Groups {
  readonly records: number;
  readonly questions: readonly Answered[];
}

/** What was answered to one question, and the groups of all. */
export interface Found {
  readonly all: Answers;
  readonly answered: Answered | undefined;
}

/** What was answered to questions. The functions throw the errors of the API. */
export interface AnswerSource {
  /** Counts a question, in one scan with its neighbours. */
  readonly get: (question: Question) => Promise<Found>;
  /** Counts one question, with as many values as the API lists. */
  readonly getAll: (question: Question) => Promise<Found>;
}

interface AnswerSourceOptions {
  readonly session: Session;
  /** The selection. */
  readonly params: Params;
  /** In the order in which they are shown. */
  readonly questions: readonly Question[];
  /** Whether these are all questions of the selection. */
  readonly isEvery: boolean;
  /** What answers are split by, as the API's parameter. */
  readonly by: string | undefined;
  readonly signal: AbortSignal;
}

export function answerSource(options: AnswerSourceOptions): AnswerSource {
  const { session, params, questions, isEvery, by, signal } = options;
  const chunks = chunksOf(questions);
  const requests = new Map<readonly string[], Promise<Answers>>();

  function request(top: string, columns: readonly string[]): Promise<Answers> {
    const wanted = Object.entries({
      value: 'translated_label',
      numbers: 'true',
      top,
      ...(by && { by }),
    });
    const names = columns.map((name): [string, string] => ['column', name]);
    return session.results.get<Answers>(
      '/responses/answers',
      [...params, ...wanted, ...names],
      signal,
    );
  }

  const find = async (question: Question, answers: Promise<Answers>): Promise<Found> => {
    const all = await answers;
    return { all, answered: all.questions.find(({ column }) => column === question.column) };
  };

  return {
    get(question) {
      const chunk = chunks.find((columns) => columns.includes(question.column)) ?? [];
      // without names, the service does not have to look for them
      const names = isEvery && chunks.length === 1 ? [] : chunk;
      const started = requests.get(chunk) ?? request(SOME, names);
      requests.set(chunk, started);
      started.catch(() => requests.delete(chunk));
      return find(question, started);
    },
    getAll: (question) => find(question, request(ALL, [question.column])),
  };
}

/** Columns that one request can name. */
function chunksOf(questions: readonly Question[]): string[][] {
  const chunks: string[][] = [];
  let last: string[] = [];
  for (const { column } of questions) {
    const isFull = last.length === COLUMNS || last.join('').length + column.length > NAMES_LENGTH;
    if (chunks.length === 0 || isFull) chunks.push((last = []));
    last.push(column);
  }
  return chunks;
}

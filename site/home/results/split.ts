import type { Question } from '../api-types.ts';

/*
 * What the page splits answers by, as in its URL: `form`, `metadata/<key>`, `arm/<name>` or
 * `question/<shortcode>/<question_ref>`, each part percent-encoded. The name of a question's column
 * would depend on the selection.
 */

type Kind = 'form' | 'metadata' | 'arm' | 'question';

/** How many names each kind has. */
const NAMES: Readonly<Record<Kind, number>> = { form: 0, metadata: 1, arm: 1, question: 2 };

export const splitBy = (kind: Kind, ...names: readonly string[]): string =>
  [kind, ...names].map(encodeURIComponent).join('/');

/** How links name a question. */
export const questionName = (question: Pick<Question, 'shortcode' | 'question_ref'>): string =>
  splitBy('question', question.shortcode, question.question_ref);

/** The kind of a split, and its names; none if it is not a split. */
export function partsOfSplit(split: string): readonly string[] {
  try {
    const [kind = '', ...names] = split.split('/').map(decodeURIComponent);
    const isSplit = NAMES[kind as Kind] === names.length && (kind !== 'arm' || isArm(names[0]));
    return isSplit ? [kind, ...names] : [];
  } catch {
    return [];
  }
}

/** Whether a text is the name of a treatment arm that the API splits by. */
export const isArm = (name = ''): boolean => /^seed_[1-9]\d{0,6}(_([1-9]|10))?$/.test(name);

/**
 * The API's parameter `by`; undefined without a split, for one by form, and for a question without
 * answers.
 */
export function parameterOf(split: string, questions: readonly Question[]): string | undefined {
  const [kind, name] = partsOfSplit(split);
  if (kind === 'metadata' || kind === 'arm') return `${kind}.${name}`;
  return questions.find((question) => questionName(question) === split)?.column;
}

import type { Question } from '../../db/questions.ts';
import { ByteMap } from '../../encode/byte-map.ts';
import { csvCell } from '../../encode/records.ts';
import type { FormVersion } from '../../responses/selection.ts';

/** The columns of a record before those of its metadata keys and questions. */
export const FIXED_COLUMNS = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'flowid',
  'started',
  'ended',
  'attempts',
  'metadata',
] as const;

/** A form of a survey, in all its versions. */
export interface Form {
  /** The index of the column of a question, by `question_ref` as a CSV cell. */
  readonly questions: ByteMap<number>;
}

/** The question columns of a wide file. */
export interface QuestionColumns {
  readonly names: readonly string[];
  /** The forms by the `surveyid` of their versions. */
  readonly forms: ByteMap<Form>;
}

/** The name of a question's column. */
const columnName = ({ shortcode, questionRef }: Question, by: 'form_question' | 'question' = 'form_question') =>
  by === 'question' ? questionRef : `${shortcode}.${questionRef}`;

/**
 * Makes a column for each question of a form, named by both, so that its name does not depend on the rest of the survey; or one
 * for each `question_ref`.
 *
 * @param questions of these form versions
 */
export function questionColumns(
  questions: readonly Question[],
  formVersions: readonly FormVersion[],
  by?: 'form_question' | 'question',
): QuestionColumns {
  // Two questions of different forms can have the same name, but only by `question_ref` do they share a column.
  const keyOf = (question: Question) =>
    by === 'question' ? question.questionRef : JSON.stringify([question.shortcode, question.questionRef]);
  const indexes = new Map<string, number>();
  for (const question of questions) {
    const key = keyOf(question);
    if (!indexes.has(key)) indexes.set(key, indexes.size);
  }
  const names: string[] = [];
  for (const question of questions) names[indexes.get(keyOf(question)) as number] = columnName(question, by);

  const byShortcode = Map.groupBy(questions, ({ shortcode }) => shortcode);
  const forms = new Map<string, Form>();
  for (const shortcode of new Set(formVersions.map((version) => version.shortcode))) {
    const cells = byShortcode
      .get(shortcode)
      ?.map((question): [string, number] => [csvCell(question.questionRef), indexes.get(keyOf(question)) as number]);
    forms.set(shortcode, { questions: new ByteMap(cells ?? []) });
  }
  return { names, forms: new ByteMap(formVersions.map(({ id, shortcode }) => [id, forms.get(shortcode) as Form])) };
}

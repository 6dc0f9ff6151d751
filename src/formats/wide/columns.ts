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

/** A form of a survey, in all its versions: the index of each question's column, by `question_ref` as a CSV cell. */
export type Form = ByteMap<number>;

/** The question columns of a wide file. */
export interface QuestionColumns {
  readonly names: readonly string[];
  /** The forms by the `surveyid` of their versions. */
  readonly forms: ByteMap<Form>;
}

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
  const isByQuestion = by === 'question';
  const nameOf = ({ shortcode, questionRef }: Question) => (isByQuestion ? questionRef : `${shortcode}.${questionRef}`);
  // Two questions of different forms can have the same name, but only by `question_ref` do they share a column.
  const keyOf = ({ shortcode, questionRef }: Question) =>
    isByQuestion ? questionRef : JSON.stringify([shortcode, questionRef]);
  const names = new Map(questions.map((question) => [keyOf(question), nameOf(question)]));
  const indexes = new Map(Array.from(names.keys(), (key, index) => [key, index]));

  const byShortcode = Map.groupBy(questions, ({ shortcode }) => shortcode);
  const forms = new Map<string, Form>();
  for (const shortcode of new Set(formVersions.map((version) => version.shortcode))) {
    const cells = byShortcode
      .get(shortcode)
      ?.map((question): [string, number] => [csvCell(question.questionRef), indexes.get(keyOf(question)) as number]);
    forms.set(shortcode, new ByteMap(cells ?? []));
  }
  return {
    names: [...names.values()],
    forms: new ByteMap(formVersions.map(({ id, shortcode }) => [id, forms.get(shortcode) as Form])),
  };
}

import type { Question } from '../../db/questions.ts';
import { ByteMap } from '../../encode/byte-map.ts';
import { csvCell } from '../../encode/records.ts';
import type { FormVersion } from '../../responses/selection.ts';

/**
 * A form of a survey, in all its versions: its questions, as indexes of
 * {@link QuestionColumns.columns}, by `question_ref` as a CSV cell.
 */
export type Form = ByteMap<number>;

/** The question columns of a wide file. */
export interface QuestionColumns {
  readonly names: readonly string[];
  /** The index of each question's column. */
  readonly columns: readonly number[];
  /** The forms by the `surveyid` of their versions. */
  readonly forms: ByteMap<Form>;
}

/**
 * Finds the columns of questions.
 *
 * @param questions those of these form versions, in the order of their columns
 */
export function questionColumns(
  questions: readonly Question[],
  formVersions: readonly FormVersion[],
): QuestionColumns {
  const names = [...new Set(questions.map(({ column }) => column))];
  const indexes = new Map(names.map((name, index) => [name, index]));
  const byShortcode = Map.groupBy(questions.entries(), ([, { shortcode }]) => shortcode);
  const forms = new Map<string, Form>();
  for (const [shortcode, ofForm] of byShortcode) {
    const cells = ofForm.map(([i, { questionRef }]) => [csvCell(questionRef), i] as const);
    forms.set(shortcode, new ByteMap(cells));
  }
  const none: Form = new ByteMap([]);

  return {
    names,
    columns: questions.map(({ column }) => indexes.get(column) as number),
    forms: new ByteMap(formVersions.map(({ id, shortcode }) => [id, forms.get(shortcode) ?? none])),
  };
}

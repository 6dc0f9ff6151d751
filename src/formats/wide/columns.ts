import type { Question } from '../../db/questions.ts';
import { ByteMap } from '../../encode/byte-map.ts';
import { csvCell } from '../../encode/records.ts';
import type { FormVersion } from '../../responses/selection.ts';

/**
 * A form of a survey, in all its versions: its questions, as indexes of
 * `columns`, by `question_ref` as a CSV cell.
 */
export type Form = ByteMap<number>;

/** The question columns of a wide file. */
export type QuestionColumns = ReturnType<typeof questionColumns>;

/**
 * Finds the columns of questions.
 *
 * @param questions those of these form versions, in the order of their columns
 */
export function questionColumns(
  questions: readonly Question[],
  formVersions: readonly FormVersion[],
) {
  const names = [...new Set(questions.map(({ column }) => column))];
  const indexes = new Map(names.map((name, index) => [name, index]));
  const byShortcode = Map.groupBy(questions.entries(), ([, { shortcode }]) => shortcode);
  const forms = new Map(
    Array.from(byShortcode, ([shortcode, ofForm]): [string, Form] => [
      shortcode,
      new ByteMap(ofForm.map(([i, { questionRef }]) => [csvCell(questionRef), i])),
    ]),
  );

  return {
    names,
    /** The index of each question's column. */
    columns: questions.map(({ column }) => indexes.get(column) as number),
    /** The forms that have questions, by the `surveyid` of their versions. */
    forms: new ByteMap(formVersions.map(({ id, shortcode }) => [id, forms.get(shortcode)])),
  };
}

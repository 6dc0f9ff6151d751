import type { Question } from '../db/questions.ts';
import { csvCell } from '../encode/csv-cell.ts';
import type { FormVersion } from '../responses/selection.ts';

/** The columns before those of the questions. */
export const FIXED_COLUMNS = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'flowid',
  'started',
  'ended',
  'metadata',
] as const;

/** The question columns of a wide file. */
export interface QuestionColumns {
  /** As cells of the header record. */
  readonly names: readonly string[];
  /**
   * The column index, from 0, by form version and then by `question_ref` as a CSV cell. The versions of a form share one
   * map.
   */
  readonly indexes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/**
 * Makes a column for each question, named by its form and itself, so that its name does not depend on the rest of the survey.
 *
 * @param questions of these form versions
 */
export function questionColumns(questions: readonly Question[], formVersions: readonly FormVersion[]): QuestionColumns {
  const byShortcode = new Map(formVersions.map(({ shortcode }) => [shortcode, new Map<string, number>()]));
  const indexesOf = (shortcode: string) => byShortcode.get(shortcode) as Map<string, number>;
  for (const [index, { shortcode, questionRef }] of questions.entries()) {
    indexesOf(shortcode).set(csvCell(questionRef), index);
  }
  return {
    names: questions.map(({ shortcode, questionRef }) => csvCell(`${shortcode}.${questionRef}`)),
    indexes: new Map(formVersions.map(({ id, shortcode }) => [id, indexesOf(shortcode)])),
  };
}

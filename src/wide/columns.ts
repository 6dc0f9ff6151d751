import { csvCell } from '../encode/csv-cell.ts';
import type { Question } from '../db/questions.ts';
import type { Form } from '../db/surveys.ts';

/** The columns that stand before the questions' in every wide file. */
export const FIXED_COLUMNS = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'flowid',
  'started',
  'ended',
  'metadata',
] as const;

/** The columns of a wide file's questions. */
export interface QuestionColumns {
  /** As cells of the file's header. */
  readonly names: readonly string[];
  /**
   * By form version, and then by the question's name as a CSV cell: which column an answer belongs into, counted from 0.
   * The versions of a form share one map.
   */
  readonly places: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/**
 * Gives every question a column, named for its form and itself, whatever else is in the survey.
 *
 * @param questions of these forms
 */
export function questionColumns(questions: readonly Question[], forms: readonly Form[]): QuestionColumns {
  const byShortcode = new Map(forms.map(({ shortcode }) => [shortcode, new Map<string, number>()]));
  const placesIn = (shortcode: string) => byShortcode.get(shortcode) as Map<string, number>;
  for (const [place, { shortcode, questionRef }] of questions.entries()) {
    placesIn(shortcode).set(csvCell(questionRef), place);
  }
  return {
    names: questions.map(({ shortcode, questionRef }) => csvCell(`${shortcode}.${questionRef}`)),
    places: new Map(forms.map(({ id, shortcode }) => [id, placesIn(shortcode)])),
  };
}

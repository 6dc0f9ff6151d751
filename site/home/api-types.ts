/* What several views read of the API's responses. */

/** A form version. */
export interface FormVersion {
  readonly survey_name: string;
  readonly shortcode: string;
  readonly title: string;
}

/** A question of a form. */
export interface Question {
  /** The name of its column in a wide file. */
  readonly column: string;
  readonly shortcode: string;
  readonly question_ref: string;
  readonly question_text: string;
  readonly participants: number;
  /** The lettered choices that the text lists, at least two; null if it lists none. */
  readonly choices: readonly { readonly value: string; readonly label: string }[] | null;
}

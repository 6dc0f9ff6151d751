/**
 * The limits of a key: names, and numbers of names that are not told. What is absent does not
 * limit.
 */
export interface Limits extends Readonly<
  Partial<Record<'surveys' | 'shortcodes' | 'questions' | 'metadata', readonly string[]>>
> {
  readonly without_questions?: number;
  readonly pageid?: false;
  readonly pseudonyms?: string;
}

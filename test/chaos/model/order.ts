import type { Shortcodes } from '../../support/wide.ts';
import { type FormVersion, type Response, timestampOf } from './account.ts';

/** What orders responses. */
export type Position = Pick<Response, 'at' | 'userid' | 'question_ref' | 'surveyid'>;

/** The order of responses, in files and by cursor. */
export const byCursor = (a: Position, b: Position): number =>
  compareLists(
    [a.at, a.userid, a.question_ref, a.surveyid],
    [b.at, b.userid, b.question_ref, b.surveyid],
  );

/** The order of form versions. */
export const byCreation = (a: FormVersion, b: FormVersion): number =>
  compareLists([a.created, a.id], [b.created, b.id]);

export const shortcodesOf = (forms: readonly FormVersion[]): Shortcodes =>
  new Map(forms.toSorted(byCreation).map(({ id, shortcode }) => [id, shortcode]));

/** Compares by the first elements that differ. */
export function compareLists(
  a: readonly (string | number)[],
  b: readonly (string | number)[],
): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** The primary key of a response. */
export const primaryKeyOf = ({ surveyid, at, userid, question_ref }: Response): string =>
  JSON.stringify([surveyid, at, userid, question_ref]);

/**
 * The page token of a response. @param older whether to use the older format, without the form
 * version
 */
export function tokenOf({ at, userid, question_ref, surveyid }: Position, older = false): string {
  const parts = [timestampOf(at), userid, question_ref];
  return Buffer.from(older ? parts.join() : JSON.stringify([1, ...parts, surveyid])).toString(
    'base64url',
  );
}

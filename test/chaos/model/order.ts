import type { FormVersion, Response } from './account.ts';
import { momentOf, timestampOf } from './moment.ts';

/** What orders responses. */
export type Position = Pick<Response, 'at' | 'userid' | 'question' | 'form'>;

/** The order of responses, in files and by cursor. */
export const byCursor = (a: Position, b: Position): number =>
  compareLists([a.at, a.userid, a.question, a.form], [b.at, b.userid, b.question, b.form]);

/** The order of form versions. */
export const byCreation = (a: FormVersion, b: FormVersion): number =>
  compareLists([a.created, a.id], [b.created, b.id]);

/** Compares by the first elements that differ. */
export function compareLists(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** The primary key of a response. */
export const primaryKeyOf = ({ form, at, userid, question }: Response): string =>
  JSON.stringify([form, at, userid, question]);

/** The page token of a response. @param older whether to use the older format, without the form version */
export function tokenOf({ at, userid, question, form }: Position, older = false): string {
  const text = older
    ? `${timestampOf(at)},${userid},${question}`
    : JSON.stringify([1, timestampOf(at), userid, question, form]);
  return Buffer.from(text).toString('base64url');
}

/** The position of the response that has a page token. */
export function positionOf(token: string): Position {
  const text = Buffer.from(token, 'base64url').toString();
  const [, timestamp, userid, question, form] = JSON.parse(text) as [1, string, string, string, string];
  return {
    at: momentOf(timestamp),
    userid,
    question,
    form,
  };
}

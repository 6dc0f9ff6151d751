import type { Cursor } from '../responses/cursor.ts';
import type { Query } from './client.ts';

/**
 * An order of responses in which an index has those of each form, so that they need no sort. Responses to two forms that
 * tie in all three are ordered by `surveyid`.
 */
export type Order = readonly ('timestamp' | 'userid' | 'question_ref')[];

/** The order of the primary key. */
export const BY_TIME: Order = ['timestamp', 'userid', 'question_ref'];
/** The order of the index `responses_by_participant`: a participant's answers stand together. */
export const BY_PARTICIPANT: Order = ['userid', 'timestamp', 'question_ref'];

export type Value = Query['params'][number];
/** Takes a value and gives the `$n` that stands for it. */
export type Add = (value: Value) => string;

/** The columns by which rows are ordered, as a list. @param alias of the rows, where `timestamp` alone would mean its text */
export const orderSql = (order: Order, alias?: string): string =>
  order.map((column) => (alias && column === 'timestamp' ? `${alias}.timestamp` : column)).join(', ');

/** A place in an order, to compare `(…)` of {@link orderSql} with. */
export function keySql(order: Order, { timestamp, userid, questionRef }: Cursor, add: Add): string {
  const values = {
    timestamp: () => `${add(timestamp)}::timestamptz`,
    userid: () => add(userid),
    question_ref: () => add(questionRef),
  };
  return `(${order.map((column) => values[column]()).join(', ')})`;
}

import type { Cursor } from '../responses/cursor.ts';
import type { Query } from './client.ts';

/**
 * An order for which an index holds the responses of each form version, so that they need no sort. Rows of two form versions
 * that tie in all three columns are ordered by `surveyid`.
 */
export type Order = readonly ('timestamp' | 'userid' | 'question_ref')[];

/** The order of the primary key. */
export const BY_TIME: Order = ['timestamp', 'userid', 'question_ref'];
/** The order of the index `responses_by_participant`. */
export const BY_PARTICIPANT: Order = ['userid', 'timestamp', 'question_ref'];

export type Param = Query['params'][number];
/** Adds a parameter to a query, and returns its `$n`. */
export type AddParam = (value: Param) => string;

/** The columns of an order as a list. @param alias of the rows, if `timestamp` would otherwise mean an output column */
export const orderSql = (order: Order, alias?: string): string =>
  order.map((column) => (alias && column === 'timestamp' ? `${alias}.timestamp` : column)).join(', ');

/** A cursor as a row value, to compare with the row of {@link orderSql}'s columns. */
export function cursorSql(order: Order, { timestamp, userid, questionRef }: Cursor, add: AddParam): string {
  const values = {
    timestamp: () => `${add(timestamp)}::timestamptz`,
    userid: () => add(userid),
    question_ref: () => add(questionRef),
  };
  return `(${order.map((column) => values[column]()).join(', ')})`;
}

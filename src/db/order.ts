import { columnNamed } from '../responses/columns.ts';
import type { Cursor } from '../responses/cursor.ts';
import { type Sql, join, raw, sql } from './sql.ts';

/**
 * An order for which an index holds the responses of each form version, so that they need no sort
 * in either direction. Rows of two form versions that tie in all three columns are ordered by
 * `surveyid`, in the same direction.
 */
export interface Order {
  readonly columns: readonly ('timestamp' | 'userid' | 'question_ref')[];
  readonly direction: 'asc' | 'desc';
}

/** The order of the primary key. */
export const BY_TIME: Order = {
  columns: ['timestamp', 'userid', 'question_ref'],
  direction: 'asc',
};
/** The order of the index `responses_by_participant`. */
export const BY_PARTICIPANT: Order = {
  columns: ['userid', 'timestamp', 'question_ref'],
  direction: 'asc',
};

/**
 * The list for ORDER BY within one form version.
 *
 * @param rows the alias of the rows and a point, for queries with an output column `timestamp`, which
 * would be sorted by otherwise
 */
export const branchOrderSql = ({ columns, direction }: Order, rows = ''): Sql =>
  raw(columns.map((column) => `${rows}${column} ${direction}`).join(', '));

/** The list for ORDER BY across form versions. @param rows likewise */
export const orderSql = (order: Order, rows?: string): Sql =>
  sql`${branchOrderSql(order, rows)}, surveyid ${raw(order.direction)}`;

/** A position in an order: a cursor, or SQL for its values. */
export type Position = { readonly [Name in keyof Cursor]: Cursor[Name] | Sql };

/** SQL for a value of a position. */
export const typedValue = (name: keyof Cursor, position: Position): Sql =>
  sql`${position[name] ?? ''}::${raw(columnNamed(name).type)}`;

/**
 * Compares a row's position with another. Without `surveyid`, the rows that tie with that one are
 * equal to it.
 */
export function positionSql(
  { columns }: Order,
  operator: '<' | '>' | '<=' | '>=',
  position: Position,
): Sql {
  const names = [...columns, 'surveyid' as const].filter((name) => position[name] !== undefined);
  const values = names.map((name) => typedValue(name, position));
  return sql`(${raw(names.join(', '))}) ${raw(operator)} (${join(values)})`;
}

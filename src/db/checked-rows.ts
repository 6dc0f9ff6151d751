import type { Row } from './client.ts';
import { DatabaseError } from './errors.ts';

/** What the driver makes of an answer of the SQL endpoint. */
interface FullAnswer {
  readonly fields: readonly unknown[];
  readonly rows: Row[];
  readonly rowCount: number | null;
  readonly command: string;
}

/**
 * The rows of an answer that is whole. An answer can be good JSON and still not be what was asked for, and a list that has
 * become shorter on its way would look like the end of the data.
 *
 * @param columns that a row must have; as many as the answer names when not given
 * @throws DatabaseError `transient`
 */
export function checkedRows(answer: unknown, columns?: number): Row[] {
  const { fields, rows, rowCount, command } = answer as FullAnswer;
  const width = columns ?? fields.length;
  // An update has a count, and no rows.
  if (command !== 'UPDATE' && rows.length !== rowCount)
    throw spoilt(`${rows.length} rows that should have ${rowCount}`);
  if (columns !== undefined && fields.length !== columns) throw spoilt(`${fields.length} columns, not ${columns}`);
  if (rows.some((row) => row.length !== width)) throw spoilt('rows of different lengths');
  return rows;
}

const spoilt = (what: string) => new DatabaseError('transient', `an answer with ${what}`);

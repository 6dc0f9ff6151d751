import { FILTERS, FILTER_NAMES, type Filters } from '../responses/filters.ts';
import { formatInstant } from '../responses/timestamp.ts';
import { type Sql, raw, sql } from './sql.ts';

/** SQL for filters. Column names are not qualified: they must be unambiguous in every query. */
export const filterConditions = (filters: Filters): Sql[] =>
  FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const { column, operator } = FILTERS[name];
    const compared = raw(`${column} ${operator}`);
    return typeof value === 'bigint'
      ? sql`${compared} ${formatInstant(value)}::timestamptz`
      : sql`${compared} any(${value})`;
  });

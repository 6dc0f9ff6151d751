import { FILTERS, FILTER_NAMES, type Filters } from '../responses/filters.ts';
import { formatInstant } from '../responses/timestamp.ts';
import { type Sql, raw, sql } from './sql.ts';

/** SQL for filters. Column names are not qualified: they must be unambiguous in every query. */
export const filterConditions = (filters: Filters): Sql[] =>
  FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const condition = raw(FILTERS[name].condition);
    return typeof value === 'bigint'
      ? sql`${condition} ${formatInstant(value)}::timestamptz`
      : sql`${condition} any(${value})`;
  });

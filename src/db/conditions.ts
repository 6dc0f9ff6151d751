import type { Selection } from '../responses/selection.ts';
import { formatInstant } from '../responses/timestamp.ts';
import { type Sql, sql } from './sql.ts';

/**
 * SQL for the filters of a selection, other than by form version. Column names are not qualified: they must be unambiguous in every
 * query. The codebook relies on filters that depend on nothing but `timestamp`, `userid` and `question_ref`.
 */
export function filterConditions({ since, until, userids, questionRefs }: Partial<Selection>): Sql[] {
  return [
    ...(since === undefined ? [] : [sql`timestamp >= ${formatInstant(since)}::timestamptz`]),
    ...(until === undefined ? [] : [sql`timestamp < ${formatInstant(until)}::timestamptz`]),
    ...(userids ? [sql`userid = any(${userids})`] : []),
    ...(questionRefs ? [sql`question_ref = any(${questionRefs})`] : []),
  ];
}
